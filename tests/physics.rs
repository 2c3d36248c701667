#[test]
fn a() {
    println!("{:?}", burntrace::device::list());
}
