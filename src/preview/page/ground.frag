// Lines every `pitch`, bolder every fifth, fading out towards the rim.

uniform vec4 ground;
uniform float pitch;
uniform vec3 ink;

in vec2 at;

out vec4 color;

float lines(float every) {
    vec2 x = at / every;
    vec2 width = max(fwidth(x), vec2(1e-6));
    vec2 near = abs(fract(x - 0.5) - 0.5) / width;
    // Lines nearer to each other than two pixels would only shimmer.
    vec2 shown = clamp(1.5 - near, 0.0, 1.0) * clamp(0.5 / width - 0.5, 0.0, 1.0);
    return max(shown.x, shown.y);
}

void main() {
    float fade = clamp(1.0 - length(at - ground.xz) / ground.w, 0.0, 1.0);
    color = vec4(ink, max(lines(pitch) * 0.22, lines(pitch * 5.0) * 0.45) * fade);
}
