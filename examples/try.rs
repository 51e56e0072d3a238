use vatbake::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut o = Options::default();
    o.device = match a[2].as_str() {
        "cpu" => options::DeviceChoice::Cpu,
        _ => options::DeviceChoice::Software,
    };
    if a.len() > 3 {
        o.allow_static = true;
    }
    let t = std::time::Instant::now();
    let r = bake(&Request { input: Input::File(a[1].clone().into()), output: "/tmp/out".into(), options: o }, &mut Silent);
    match r {
        Ok(r) => {
            println!("{} {:?}", t.elapsed().as_secs_f64(), r.timings.iter().map(|t| (t.step, t.seconds)).collect::<Vec<_>>());
            println!(
                "{:?} v{} f{} {:?} disp {} {:?}",
                r.device.name, r.vertex_count, r.frame_count, r.size, r.largest_displacement, r.bounds
            );
            for t in r.textures {
                println!("{t:?}")
            }
            for w in r.warnings {
                println!("{:?} {}", w.code, w.message)
            }
        }
        Err(e) => println!("ERR {e}"),
    }
}
