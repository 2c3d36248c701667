//! Saves given to sinks on the host: the same as those in memory, in order, none lost.

use super::common::*;
use burntrace::{
    Condition, Control, Ends, Engine, Face, GridField, Placement, Save, SaveAt, SavePlan, Seeds,
    SinkError, Summary, Tracer, TrackSink, Tracks, device, io,
};
use std::cell::RefCell;

/// A box that is periodic along x, reflects along y and is open along z.
fn frames() -> Frames {
    let mut dice = Dice(31);
    let axes = [even_axis(0.0, 1.0, 6), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    Frames::new(axes, Placement::Nodes, &[0.0, 0.4, 1.0], |_, _| {
        [dice.between(0.5, 2.0), dice.between(-1.0, 1.0), dice.between(-0.5, 0.5)]
    })
}

fn tracer(field: &GridField) -> Tracer<'_> {
    Tracer::new(field)
        .face(Face::XLow, Condition::Periodic)
        .face(Face::XHigh, Condition::Periodic)
        .face(Face::YLow, Condition::Reflect)
        .face(Face::YHigh, Condition::Reflect)
        .span(steps(0.0, 1.0, 48))
        .save(SaveAt::EverySteps(2))
}

fn seeds(count: usize) -> Seeds {
    let points = Dice(32).points([0.0; 3], [1.0; 3], count);
    Seeds::list(points).unwrap().release_at(0.11).unwrap()
}

/// Traces into a store, and opens it.
fn store(tracer: &Tracer, seeds: &Seeds) -> (tempfile::TempDir, io::Tracks, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = io::TrackWriter::new(folder.path());
    let summary = tracer.trace_into(seeds, &mut writer, &mut |_| Control::Continue).unwrap();
    let tracks = io::Tracks::open(folder.path()).unwrap();
    (folder, tracks, summary)
}

fn assert_same_save(name: &str, store: &io::Tracks, k: usize, save: &Save) {
    let bits = |rows: Vec<[f64; 3]>| rows.into_iter().map(|p| p.map(f64::to_bits)).collect();
    let [here, there]: [Vec<_>; 2] =
        [bits(store.position(k).unwrap()), bits(rows(save.position.clone()))];
    assert_eq!(here, there, "{name}, positions of save {k}");
    let codes: Vec<_> =
        store.status(k).unwrap().into_iter().map(|status| i64::from(status.code())).collect();
    assert_eq!(codes, integers(save.status.clone()), "{name}, statuses of save {k}");
    let image: Vec<i64> = match store.image(k).unwrap() {
        Some(image) => image.into_iter().flatten().map(i64::from).collect(),
        None => vec![0; 3 * codes.len()],
    };
    assert_eq!(image, integers(save.image.clone()), "{name}, images of save {k}");
    let velocity = save.velocity.clone().map(|v| bits(rows(v)));
    let stored: Option<Vec<_>> = store.velocity(k).unwrap().map(bits);
    assert_eq!(stored, velocity, "{name}, velocities of save {k}");
}

/// The saves of the second tracer are further apart than a launch may be long (1024 steps).
#[test]
fn a_store_holds_what_memory_holds() {
    for machine in machines() {
        let field = machine.field(&frames());
        let closed = Tracer::new(&field).all_faces(Condition::Reflect);
        let far = closed.span(steps(0.0, 1.0, 2500)).save(SaveAt::EverySteps(1100));
        for (tracer, count) in [(tracer(&field).save_velocity(true), 300), (far, 20)] {
            let (_folder, stored, summary) = store(&tracer, &seeds(count));
            let kept = tracer.trace(&seeds(count)).unwrap();
            let account = kept.summary().unwrap();
            assert_eq!((stored.num_saves(), summary.saves), (kept.saves().len(), account.saves));
            assert_eq!(summary.launches, account.launches, "{machine}");
            assert_eq!(stored.times(), kept.times(), "{machine}");
            for (k, save) in kept.saves().iter().enumerate() {
                assert_same_save(&machine.to_string(), &stored, k, save);
            }
            assert_eq!(stored.ends().unwrap().status, kept.ends().status, "{machine}");
            assert!(summary.trace_seconds > 0.0 && summary.save_seconds > 0.0, "{machine}");
        }
    }
}

/// Distances grow by at most exp(18): the gradient is below 3 over a spacing of 1/6. In fact they
/// grow far less.
#[test]
fn stores_of_all_devices_agree_to_rounding() {
    let here = machines().into_iter().filter(|machine| !machine.is_double());
    let mut stores = here.map(|machine| {
        let field = machine.field(&frames());
        let (_folder, tracks, _) = store(&tracer(&field), &seeds(300));
        let saves = (0..tracks.num_saves()).map(|k| {
            (tracks.unwrapped(k).unwrap(), tracks.status(k).unwrap(), tracks.image(k).unwrap())
        });
        (machine, saves.collect::<Vec<_>>())
    });
    let (_, first) = stores.next().unwrap();
    assert_eq!(first.len(), 25);
    for (machine, saves) in stores {
        for (k, (a, b)) in first.iter().zip(&saves).enumerate() {
            let name = format!("{machine}, save {k}");
            assert_below(&name, distance(&a.0, &b.0), 500.0 * machine.eps());
            assert_eq!((&a.1, &a.2), (&b.1, &b.2), "{name}");
        }
    }
}

/// What a run told an observer and a sink, in the order in which it did.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Save(usize),
    Observer,
    End,
}

/// A sink on the host that writes down what it is told, and may fail.
struct Recorder<'a> {
    told: &'a RefCell<Vec<Told>>,
    devices: Vec<String>,
    fails_at: Option<usize>,
}

impl<'a> Recorder<'a> {
    fn new(told: &'a RefCell<Vec<Told>>) -> Self {
        Recorder { told, devices: Vec::new(), fails_at: None }
    }
}

impl TrackSink for Recorder<'_> {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &SavePlan) -> Result<(), SinkError> {
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        if self.fails_at == Some(save.index) {
            return Err("the disk is full".into());
        }
        self.told.borrow_mut().push(Told::Save(save.index));
        self.devices.push(format!("{:?}", save.position.device()));
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        self.told.borrow_mut().push(Told::End);
        Ok(())
    }
}

/// A card has taken on the next steps when it hands over a save; the CPU saves at once.
#[test]
fn saves_come_in_order_and_on_the_host() {
    for machine in machines() {
        let field = machine.field(&frames());
        let told = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&told);
        let observer = &mut |_| {
            told.borrow_mut().push(Told::Observer);
            Control::Continue
        };
        let tracer = tracer(&field).save(SaveAt::EverySteps(16));
        tracer.trace_into(&seeds(40), &mut sink, observer).unwrap();
        let pairs = (0..4).map(|k| match machine.is_cpu() {
            true => [Told::Save(k), Told::Observer],
            false => [Told::Observer, Told::Save(k)],
        });
        let expected: Vec<_> = pairs.flatten().chain([Told::End]).collect();
        assert_eq!(*told.borrow(), expected, "{machine}");
        let name = if machine.name == "ndarray" { "ndarray" } else { "flex" };
        let host = format!("{:?}", device::open(name).unwrap().device);
        assert_eq!(sink.devices, vec![host; 4], "{machine}");
    }
}

#[test]
fn a_sink_on_the_host_that_fails_stops_the_run() {
    for machine in machines() {
        let field = machine.field(&frames());
        let told = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&told);
        sink.fails_at = Some(2);
        let result = tracer(&field).trace_into(&seeds(40), &mut sink, &mut |_| Control::Continue);
        match result {
            Err(burntrace::Error::Sink(source)) => {
                assert_eq!(source.to_string(), "the disk is full", "{machine}")
            }
            other => panic!("{machine}: {other:?}"),
        }
        assert_eq!(*told.borrow(), [Told::Save(0), Told::Save(1)], "{machine}");
    }
}

#[test]
fn a_cancelled_run_hands_over_the_save_that_is_underway() {
    for machine in machines() {
        let field = machine.field(&frames());
        let told = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&told);
        let summary = tracer(&field)
            .save(SaveAt::EverySteps(12))
            .trace_into(&seeds(40), &mut sink, &mut |progress| {
                if progress.time >= 0.5 { Control::Cancel } else { Control::Continue }
            })
            .unwrap();
        let expected = [Told::Save(0), Told::Save(1), Told::Save(2), Told::End];
        assert_eq!(*told.borrow(), expected, "{machine}");
        assert_eq!((summary.saves, summary.steps), (3, 24), "{machine}");
        assert!(summary.cancelled, "{machine}");
    }
}

/// The one sink that takes saves where they are gets them there.
#[test]
fn tracks_in_memory_stay_on_the_device() {
    for machine in machines() {
        let field = machine.field(&frames());
        let mut tracks = Tracks::default();
        assert!(!tracks.on_host());
        tracer(&field).trace_into(&seeds(5), &mut tracks, &mut |_| Control::Continue).unwrap();
        assert!(tracks.saves().iter().all(|save| save.position.device() == machine.device));
    }
}

/// Tensors that track gradients are given as they are, also to sinks on the host.
#[test]
fn gradients_stay_with_saves() {
    struct Last(Option<Save>);
    impl TrackSink for Last {
        fn on_host(&self) -> bool {
            true
        }
        fn begin(&mut self, _: &SavePlan) -> Result<(), SinkError> {
            Ok(())
        }
        fn save(&mut self, save: Save) -> Result<(), SinkError> {
            self.0 = Some(save);
            Ok(())
        }
        fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
            Ok(())
        }
    }
    let machines = machines().into_iter().filter(|machine| machine.name != "ndarray");
    for machine in machines {
        let machine = Machine { device: machine.device.clone().autodiff(), ..machine };
        let field = machine.field(&frames());
        let mut last = Last(None);
        let tracer = tracer(&field).engine(Engine::Tensor).span(steps(0.0, 0.05, 1));
        tracer.trace_into(&seeds(3), &mut last, &mut |_| Control::Continue).unwrap();
        let position = last.0.unwrap().position;
        assert!(position.is_autodiff() && position.device() == machine.device, "{machine}");
    }
}
