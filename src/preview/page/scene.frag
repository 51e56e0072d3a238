// The views of the scene.

const int SHADED = 0;
const int NORMALS = 1;
const int ERROR = 2;
const int FLAT = 3;

uniform int view;
uniform vec3 eye;
uniform bool own_normals;    // false: the bake has none, and those of the triangles are shown
uniform bool tinted;         // the material has a picture
uniform vec4 base_color;     // linear
uniform highp sampler2D base_map;
uniform float cutoff;        // negative: never cut out
uniform bool see_through;
uniform vec4 fog;            // rgb: sRGB; a: its distance
uniform vec3 heat[5];

in vec3 world;
in vec3 normal;
in vec2 base_uv;
in float deviation;

out vec4 color;

vec3 to_srgb(vec3 c) {
    return mix(c * 12.92, 1.055 * pow(max(c, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

void main() {
    if (view == FLAT) {
        color = vec4(1.0);
        return;
    }
    vec3 n = normal;
    if (!own_normals) {
        n = cross(dFdx(world), dFdy(world));
    } else if (!gl_FrontFacing) {
        n = -n;
    }
    n = n / max(length(n), 1e-30);
    vec4 base = base_color;
    if (tinted) {
        base *= texture(base_map, base_uv);
    }
    if (base.a < cutoff) {
        discard;
    }
    vec3 to_eye = normalize(eye - world);
    vec3 shown;
    if (view == NORMALS) {
        shown = n * 0.5 + 0.5;
    } else {
        vec3 albedo = base.rgb;
        if (view == ERROR) {
            float x = clamp(deviation, 0.0, 1.0) * 4.0;
            int k = min(int(x), 3);
            albedo = mix(heat[k], heat[k + 1], x - float(k));
            albedo = pow(albedo, vec3(2.2));
        }
        vec3 sky = mix(vec3(0.30, 0.28, 0.27), vec3(0.62, 0.66, 0.72), n.y * 0.5 + 0.5);
        float sun = max(dot(n, normalize(vec3(0.45, 0.75, 0.6))), 0.0);
        float edge = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0);
        shown = to_srgb(albedo * (sky + sun * vec3(0.78, 0.74, 0.68)) + edge * 0.06);
        if (view == ERROR) {
            shown = mix(to_srgb(albedo), shown, 0.35);
        }
    }
    float far = clamp(length(eye - world) / fog.a - 0.4, 0.0, 0.9);
    color = vec4(mix(shown, fog.rgb, far), see_through ? base.a : 1.0);
}
