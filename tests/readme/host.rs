/// The fourth number of an instance. `began` and `base` are seconds of the host's 64-bit clock: when the instance's clip began,
/// and when the shader's clock was last set back to 0.
fn start_time(began: f64, base: f64, length: f64, loops: bool) -> f32 {
    let ago = base - began;
    if loops && ago > 0.0 { -(ago % length) as f32 } else { -ago as f32 }
}
