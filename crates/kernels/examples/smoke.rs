use burntrace_kernels::*;
use burn::tensor::{*, Device};
use std::{sync::Arc, time::Instant};
fn main(){
  let n=64usize; let t=10usize; let l=std::f32::consts::TAU; let mut v=Vec::new();
  for t in 0..t{let s=1.0+0.2*(t as f32*0.7).sin(); for k in 0..n{for j in 0..n{for i in 0..n{ let (x,y,z)=(i as f32/63.0*l,j as f32/63.0*l,k as f32/63.0*l);
   v.extend([s*(z.sin()+0.57735*y.cos()), s*(0.8165*x.sin()+z.cos()), s*(0.57735*y.sin()+0.8165*x.cos()),0.0]); }}}}
  let np=100_000usize; let steps=200; let mut s=12345u64; let mut r=||{s^=s<<13;s^=s>>7;s^=s<<17;(s>>40) as f32/(1u64<<24) as f32};
  let seeds:Vec<f32>=(0..np*3).map(|_|1.0+r()*4.0).collect();
  let pitch=std::f64::consts::TAU/63.0;
  let clock=Arc::new(Clock{gaps:vec![0.2;9],frames:10,outside:Outside::Hold,in_time:InTime::Linear});
  let h=0.005; let mk=|c|Segment{steps:(0..steps).map(|i|{let t=i as f64*h;let k=((t/0.2) as usize).min(8);Step{interval:k,since:t-k as f64*0.2,h}}).collect(),first_step:0,scheme:Scheme::Rk4,clock:clock.clone(),boundary:Boundary{low:[0.0;3],high:[std::f64::consts::TAU;3],faces:[[c;2];3]},stagnant_speed:0.0};
  let mut devs=vec![("flex",Device::flex())]; 
  #[allow(deprecated)] if std::env::args().nth(1).as_deref()==Some("all"){devs.push(("ndarray",Device::ndarray())); devs.push(("vulkan",Device::vulkan(DeviceKind::DefaultDevice)));}
  for (name,d) in devs{
    let grid=GridTensors{velocity:Tensor::from_data(TensorData::new(v.clone(),[t,n*n*n,4]),(&d,DType::F32)),nodes:Tensor::from_data(TensorData::new(vec![0f32;1],[1]),(&d,DType::F32)),shape:GridShape{nodes:[n;3],origin:[0.0;3],pitch:[pitch;3],spacing:Spacing::Uniform,placement:Placement::Nodes}};
    for c in [Condition::Reflect,Condition::Periodic,Condition::Exit]{ for rep in 0..4{
    let p=Particles{position:Tensor::from_data(TensorData::new(seeds.clone(),[np,3]),(&d,DType::F32)),record:Tensor::from_data(TensorData::new((0..np).flat_map(|_|[1i32,0,0,0,0]).collect::<Vec<_>>(),[np,5]),(&d,DType::I32)),fraction:Tensor::zeros([np],(&d,DType::F32))};
    d.sync().unwrap(); let t0=Instant::now();
    let q=advance(p,&grid,mk(c)); d.sync().unwrap(); let data=q.position.clone().slice([0..4,0..3]).into_data(); let el=t0.elapsed().as_secs_f64();
    if rep==3 {println!("{name} {c:?}: {:.2} M/s {:?}",(np*steps) as f64/el/1e6,&data.to_vec::<f32>().unwrap()[..6]);}
    if name=="vulkan"&&rep==1{println!("  {:.2}",(np*steps) as f64/el/1e6);break;}
    }}
  }
}
