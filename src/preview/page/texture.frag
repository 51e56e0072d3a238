// A texture as it is: columns are vertices, rows are frames, from the top. Stretched over the canvas, with the rows that play marked.

uniform VatBake vat_bake;
uniform vec2 canvas;   // pixels
uniform int height;    // rows of the texture
uniform int blocks;    // of vertices
uniform int role;      // 0 positions, 1 normals
uniform vec3 lowest;   // what is shown black, and white
uniform vec3 highest;
uniform vec2 rows;     // the frames that play
uniform vec2 span;     // first frame of the clip, and the one after its last

out vec4 color;

void main() {
    vec2 size = vec2(vat_bake.width, height);
    vec2 at = vec2(gl_FragCoord.x, canvas.y - gl_FragCoord.y) / canvas * size;
    ivec2 texel = min(ivec2(at), ivec2(size) - 1);
    vec4 value = role == 0 ? VAT_FETCH_POSITION(texel) : VAT_FETCH_NORMAL(texel);
    vec3 shown = (value.xyz - lowest) / max(highest - lowest, vec3(1e-30));
    // Rows of this block of vertices, in pixels. Rows below the last block are padding.
    float frames = float(vat_bake.frames);
    float block = floor(at.y / frames);
    float first = block * frames;
    float tall = canvas.y / size.y;
    bool owned = block < float(blocks);
    bool inside = owned && at.y - first >= span.x && at.y - first < span.y;
    shown = inside ? shown : mix(shown, vec3(0.5), 0.55);
    float top = (first + min(rows.x, rows.y)) * tall;
    float bottom = (first + max(rows.x, rows.y) + 1.0) * tall;
    float y = at.y * tall;
    float out_of = max(top - y, y - bottom);
    if (owned && out_of > 0.0 && out_of < 5.0) {
        shown = out_of > 1.5 && out_of < 3.5 ? vec3(1.0) : vec3(0.0);
    }
    color = vec4(shown, 1.0);
}
