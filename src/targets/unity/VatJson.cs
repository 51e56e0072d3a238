// A small strict JSON reader: what the importer needs for the sidecar and for the JSON of a GLB. Every error names the place.
#if UNITY_EDITOR
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Vatbake
{
    /// <summary>A value of a JSON text, and where it stands.</summary>
    internal sealed class VatJson
    {
        readonly object value; // Dictionary<string, object>, List<object>, string, double, bool or null
        readonly string path;

        VatJson(object value, string path)
        {
            this.value = value;
            this.path = path;
        }

        /// <summary>Reads a text that is one JSON value.</summary>
        public static VatJson Parse(string text)
        {
            return new VatJson(new Reader(text).All(), "");
        }

        /// <summary>Whether an object has a member that is not null.</summary>
        public bool Has(string key)
        {
            object found;
            return Members().TryGetValue(key, out found) && found != null;
        }

        /// <summary>A member that must be there.</summary>
        public VatJson this[string key]
        {
            get
            {
                object found;
                if (!Members().TryGetValue(key, out found))
                {
                    throw Fault("lacks \"" + key + "\"");
                }
                return new VatJson(found, path + "/" + key);
            }
        }

        /// <summary>The member, or nothing.</summary>
        public VatJson Get(string key)
        {
            return Has(key) ? this[key] : null;
        }

        /// <summary>An element of an array.</summary>
        public VatJson this[int index]
        {
            get
            {
                var list = List();
                if (index < 0 || index >= list.Count)
                {
                    throw Fault("has " + list.Count + " elements, number " + index + " is asked for");
                }
                return new VatJson(list[index], path + "/" + index);
            }
        }

        /// <summary>Number of elements of an array.</summary>
        public int Count
        {
            get { return List().Count; }
        }

        /// <summary>Elements of an array, in order.</summary>
        public IEnumerable<VatJson> Items()
        {
            for (int i = 0; i < Count; i++)
            {
                yield return this[i];
            }
        }

        /// <summary>A number.</summary>
        public float Number()
        {
            if (!(value is double))
            {
                throw Fault("is no number");
            }
            float number = (float)(double)value;
            if (float.IsInfinity(number))
            {
                throw Fault("is out of range");
            }
            return number;
        }

        /// <summary>A number, or another where the member is missing.</summary>
        public float Number(string key, float otherwise)
        {
            return Has(key) ? this[key].Number() : otherwise;
        }

        /// <summary>A whole number from 0 to 2^31 - 1.</summary>
        public int Whole()
        {
            if (!(value is double) || (double)value < 0 || (double)value > int.MaxValue || Math.Floor((double)value) != (double)value)
            {
                throw Fault("is no whole number from 0 to 2147483647");
            }
            return (int)(double)value;
        }

        /// <summary>A whole number, or another where the member is missing.</summary>
        public int Whole(string key, int otherwise)
        {
            return Has(key) ? this[key].Whole() : otherwise;
        }

        /// <summary>A string.</summary>
        public string Text()
        {
            var text = value as string;
            if (text == null)
            {
                throw Fault("is no string");
            }
            return text;
        }

        /// <summary>A string, or another where the member is missing.</summary>
        public string Text(string key, string otherwise)
        {
            return Has(key) ? this[key].Text() : otherwise;
        }

        /// <summary>A member that is true or false; false where it is missing.</summary>
        public bool Flag(string key)
        {
            if (!Has(key))
            {
                return false;
            }
            if (!(this[key].value is bool))
            {
                throw this[key].Fault("is neither true nor false");
            }
            return (bool)this[key].value;
        }

        /// <summary>An array of so many numbers.</summary>
        public float[] Numbers(int count)
        {
            if (Count != count)
            {
                throw Fault("has " + Count + " numbers instead of " + count);
            }
            var numbers = new float[count];
            for (int i = 0; i < count; i++)
            {
                numbers[i] = this[i].Number();
            }
            return numbers;
        }

        /// <summary>What is wrong with this value.</summary>
        public FormatException Fault(string what)
        {
            return new FormatException((path == "" ? "the JSON" : path) + " " + what);
        }

        Dictionary<string, object> Members()
        {
            var members = value as Dictionary<string, object>;
            if (members == null)
            {
                throw Fault("is no object");
            }
            return members;
        }

        List<object> List()
        {
            var list = value as List<object>;
            if (list == null)
            {
                throw Fault("is no array");
            }
            return list;
        }

        sealed class Reader
        {
            const int Deepest = 64; // levels: a text of brackets alone must not use up the stack
            readonly string text;
            int at;

            public Reader(string text)
            {
                this.text = text;
            }

            public object All()
            {
                var all = Value(0);
                Skip();
                if (at != text.Length)
                {
                    throw Fault("something follows the value");
                }
                return all;
            }

            object Value(int depth)
            {
                if (depth > Deepest)
                {
                    throw Fault("more than " + Deepest + " levels");
                }
                Skip();
                switch (Peek())
                {
                    case '{':
                        return Members(depth);
                    case '[':
                        return Elements(depth);
                    case '"':
                        return String();
                    case 't':
                        return Word("true", true);
                    case 'f':
                        return Word("false", false);
                    case 'n':
                        return Word("null", null);
                    default:
                        return Number();
                }
            }

            object Members(int depth)
            {
                var members = new Dictionary<string, object>();
                at++;
                Skip();
                if (Take('}'))
                {
                    return members;
                }
                do
                {
                    Skip();
                    string key = String();
                    Skip();
                    Expect(':');
                    if (members.ContainsKey(key))
                    {
                        throw Fault("\"" + key + "\" stands twice");
                    }
                    members.Add(key, Value(depth + 1));
                    Skip();
                }
                while (Take(','));
                Expect('}');
                return members;
            }

            object Elements(int depth)
            {
                var list = new List<object>();
                at++;
                Skip();
                if (Take(']'))
                {
                    return list;
                }
                do
                {
                    list.Add(Value(depth + 1));
                    Skip();
                }
                while (Take(','));
                Expect(']');
                return list;
            }

            string String()
            {
                Expect('"');
                var made = new StringBuilder();
                while (true)
                {
                    char c = Next();
                    if (c == '"')
                    {
                        return made.ToString();
                    }
                    if (c < ' ')
                    {
                        throw Fault("a control character in a string");
                    }
                    made.Append(c == '\\' ? Escape() : c);
                }
            }

            char Escape()
            {
                char c = Next();
                switch (c)
                {
                    case '"':
                    case '\\':
                    case '/':
                        return c;
                    case 'b':
                        return '\b';
                    case 'f':
                        return '\f';
                    case 'n':
                        return '\n';
                    case 'r':
                        return '\r';
                    case 't':
                        return '\t';
                    case 'u':
                        ushort code;
                        if (at + 4 > text.Length
                            || !ushort.TryParse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                        {
                            throw Fault("four hexadecimal digits must follow \\u");
                        }
                        at += 4;
                        return (char)code;
                    default:
                        throw Fault("\\" + c + " is no escape");
                }
            }

            object Number()
            {
                int first = at;
                while (at < text.Length && (char.IsDigit(text[at]) || "+-.eE".IndexOf(text[at]) >= 0))
                {
                    at++;
                }
                double number;
                const NumberStyles Style = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent;
                if (!double.TryParse(text.Substring(first, at - first), Style, CultureInfo.InvariantCulture, out number)
                    || double.IsInfinity(number))
                {
                    throw Fault("a value is expected");
                }
                return number;
            }

            object Word(string word, object meaning)
            {
                if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0)
                {
                    throw Fault("a value is expected");
                }
                at += word.Length;
                return meaning;
            }

            void Skip()
            {
                while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0)
                {
                    at++;
                }
            }

            char Peek()
            {
                if (at >= text.Length)
                {
                    throw Fault("the text ends");
                }
                return text[at];
            }

            char Next()
            {
                char c = Peek();
                at++;
                return c;
            }

            bool Take(char c)
            {
                if (at < text.Length && text[at] == c)
                {
                    at++;
                    return true;
                }
                return false;
            }

            void Expect(char c)
            {
                if (!Take(c))
                {
                    throw Fault("'" + c + "' is expected");
                }
            }

            FormatException Fault(string what)
            {
                return new FormatException("the JSON is broken at character " + at + ": " + what);
            }
        }
    }
}
#endif
