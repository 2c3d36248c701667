/// stub
pub struct Flow;
