/// stub
pub struct Analytic;
