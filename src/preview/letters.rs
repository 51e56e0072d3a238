//! Words in pictures: an alphabet of strokes, so that it needs no font file and fits every size.
//!
//! A glyph is a list of strokes with commas between them, a stroke a list of points, a point two digits: x to the right, y up. Units:
//! the baseline is at 2, small letters reach up to 6 and capitals to 8, and what hangs below the line reaches down to 0.

use glam::Vec2;

use super::picture::{Picture, Rgba};

/// Units from the baseline to the top of capitals.
const CAPITAL: f32 = 6.0;
/// Units between two glyphs.
const GAP: f32 = 1.9;
/// Units of a space.
const SPACE: f32 = 2.6;
/// Thickness of a stroke in units.
const STROKE: f32 = 0.78;
/// Stands for what the alphabet lacks.
const UNKNOWN: &str = "0208383202";

fn strokes(c: char) -> &'static str {
    match c {
        'A' => "022842,1434",
        'B' => "02083847463505,3544433202",
        'C' => "4738180703123243",
        'D' => "02082846442202",
        'E' => "48080242,0535",
        'F' => "480802,0535",
        'G' => "47381807031232434525",
        'H' => "0208,4248,0545",
        'I' => "0208",
        'J' => "3833221203",
        'K' => "0208,4804,1542",
        'L' => "080242",
        'M' => "0208254842",
        'N' => "02084248",
        'O' => "120307183847433212",
        'P' => "02083847463505",
        'Q' => "120307183847433212,2442",
        'R' => "02083847463505,2542",
        'S' => "473818070615354443321203",
        'T' => "0848,2822",
        'U' => "080312324348",
        'V' => "082248",
        'W' => "0812263248",
        'X' => "0248,0842",
        'Y' => "082548,2522",
        'Z' => "08480242",
        'a' => "3632,3526160503122233",
        'b' => "0802,0516263533221203",
        'c' => "3526160503122233",
        'd' => "3832,3526160503122233",
        'e' => "04343526160503122233",
        'f' => "28180702,0626",
        'g' => "3631201001,3526160503122233",
        'h' => "0802,0516263532",
        'i' => "0602,0808",
        'j' => "161100,1818",
        'k' => "0802,3603,1432",
        'l' => "080312",
        'm' => "0602,05162522,25364542",
        'n' => "0602,0516263532",
        'o' => "051626353322120305",
        'p' => "0600,0516263533221203",
        'q' => "3630,3526160503122233",
        'r' => "0602,051626",
        's' => "3616051424332202",
        't' => "181322,0626",
        'u' => "0603122233,3632",
        'v' => "062246",
        'w' => "0612243246",
        'x' => "0632,0236",
        'y' => "0603122233,36312010",
        'z' => "06360232",
        '0' => "120307182837332212",
        '1' => "071812",
        '2' => "07182837360232",
        '3' => "07182837362515,253433221203",
        '4' => "22280434",
        '5' => "3808052534332202",
        '6' => "28180603122233342505",
        '7' => "083812",
        '8' => "15060718283736251504031222333425",
        '9' => "35150607182837342212",
        '.' => "0202",
        ',' => "1200",
        ':' => "0202,0505",
        ';' => "1200,1515",
        '-' => "0525",
        '_' => "0141",
        '/' => "0238",
        '\\' => "0832",
        '(' => "18060412",
        ')' => "08161402",
        '[' => "18080212",
        ']' => "08181202",
        '{' => "2817160514132 2",
        '}' => "0817162514130 2",
        '+' => "0545,2327",
        '=' => "0444,0646",
        '!' => "0804,0202",
        '?' => "07182837362524,2222",
        '\'' => "0807",
        '"' => "0807,1817",
        '#' => "1218,3238,0444,0646",
        '%' => "0248,0707,4343",
        '&' => "42060718272604031222 44",
        '*' => "0545,1337,1733",
        '<' => "370533",
        '>' => "073503",
        '|' => "0009",
        '~' => "05163445",
        '^' => "062846",
        '°' => "0718271607",
        '×' => "0337,0733",
        'µ' | 'μ' => "0600,03122233,3632",
        '…' => "0202,2222,4242",
        _ => match plain_letter(c) {
            Some(letter) => strokes(letter),
            None => UNKNOWN,
        },
    }
}

/// A letter without its accent.
fn plain_letter(c: char) -> Option<char> {
    const FOLDED: [(&str, char); 16] = [
        ("ÀÁÂÃÄÅĀĂĄ", 'A'),
        ("ÇĆČ", 'C'),
        ("ÈÉÊËĒĘĚ", 'E'),
        ("ÌÍÎÏĪ", 'I'),
        ("ÑŃŇ", 'N'),
        ("ÒÓÔÕÖØŌ", 'O'),
        ("ÙÚÛÜŪŮ", 'U'),
        ("ŚŠŞ", 'S'),
        ("àáâãäåāăą", 'a'),
        ("çćč", 'c'),
        ("èéêëēęě", 'e'),
        ("ìíîïīı", 'i'),
        ("ñńň", 'n'),
        ("òóôõöøō", 'o'),
        ("ùúûüūů", 'u'),
        ("śšş", 's'),
    ];
    FOLDED.iter().find(|(letters, _)| letters.contains(c)).map(|(_, plain)| *plain)
}

/// Strokes of a glyph as points in units.
fn points(c: char) -> Vec<Vec<Vec2>> {
    let digits = |stroke: &str| stroke.chars().filter_map(|d| d.to_digit(10)).map(|d| d as f32).collect::<Vec<_>>();
    let point = |pair: &[f32]| Vec2::new(pair[0], pair[1] - 2.0);
    strokes(c).split(',').map(|stroke| digits(stroke).chunks_exact(2).map(point).collect()).collect()
}

fn advance(c: char) -> f32 {
    if c.is_whitespace() {
        return SPACE;
    }
    points(c).iter().flatten().fold(0.0f32, |most, p| most.max(p.x)) + GAP
}

/// Width of a text in pixels, whose capitals are `height` pixels high.
pub fn width(text: &str, height: f32) -> f32 {
    (text.chars().map(advance).sum::<f32>() - GAP).max(0.0) * height / CAPITAL
}

/// Writes a text whose baseline begins at `at` (pixels from the upper left corner); `weight` 1 is regular.
pub fn write(picture: &mut Picture, text: &str, at: Vec2, height: f32, weight: f32, colour: Rgba) {
    let unit = height / CAPITAL;
    let mut pen = at;
    for c in text.chars() {
        if !c.is_whitespace() {
            let place = |p: &Vec2| pen + Vec2::new(p.x, -p.y) * unit;
            let strokes: Vec<Vec<Vec2>> = points(c).iter().map(|stroke| stroke.iter().map(place).collect()).collect();
            picture.stroke(&strokes, (STROKE * unit * weight).max(1.0) / 2.0, colour);
        }
        pen.x += advance(c) * unit;
    }
}

/// A text with three dots for its middle where it is wider than `most` pixels: names of clips differ at their ends.
pub fn fit(text: &str, height: f32, most: f32) -> String {
    if width(text, height) <= most {
        return text.into();
    }
    let all: Vec<char> = text.chars().collect();
    for kept in (1..all.len()).rev() {
        let (head, tail) = (&all[..kept.div_ceil(2)], &all[all.len() - kept / 2..]);
        let cut = head.iter().chain(&['…']).chain(tail).collect::<String>();
        if width(&cut, height) <= most {
            return cut;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_its_own_glyph() {
        let all: Vec<char> = ('!'..='~').filter(|c| !"@$`".contains(*c)).collect();
        for &c in &all {
            assert!(strokes(c) != UNKNOWN, "{c}");
            assert!(points(c).iter().all(|stroke| stroke.len() >= 2), "{c}");
        }
        let mut glyphs: Vec<_> = all.iter().map(|&c| format!("{:?}", points(c))).collect();
        glyphs.sort();
        glyphs.dedup();
        assert_eq!(glyphs.len(), all.len(), "two characters look the same");
        assert_eq!((strokes('ä'), strokes('狐')), (strokes('a'), UNKNOWN));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fit("Walk", 10.0, 100.0), "Walk");
        let cut = fit("Walking_Backwards_B", 10.0, 80.0);
        assert!(cut.starts_with("Walk") && cut.contains('…') && cut.ends_with("_B") && width(&cut, 10.0) <= 80.0, "{cut}");
        assert_eq!(fit("Walk", 10.0, 1.0), "");
    }

    #[test]
    fn words_leave_ink_where_they_stand() {
        let mut picture = Picture::new([60, 20], [255, 255, 255, 255]);
        write(&mut picture, "Hi", Vec2::new(4.0, 16.0), 12.0, 1.0, [0, 0, 0, 255]);
        let dark: Vec<_> = (0..60).filter(|&x| (0..20).any(|y| picture.at(x, y)[0] < 128)).collect();
        assert!(dark.len() > 4 && dark[0] >= 3 && *dark.last().expect("ink") <= (5.0 + width("Hi", 12.0)) as u32, "{dark:?}");
    }
}
