//! Saves passed to sinks on the host: identical to those in memory, in order and complete.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Control, Ends, Engine, Face, GridField, Placement, Save, SaveAt, SavePlan,
    Seeds, SinkError, Summary, Tracer, TrackSink, Tracks, device, io,
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
        .face(Face::XLow, BoundaryCondition::Periodic)
        .face(Face::XHigh, BoundaryCondition::Periodic)
        .face(Face::YLow, BoundaryCondition::Reflect)
        .face(Face::YHigh, BoundaryCondition::Reflect)
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

/// The saves of the second tracer are farther apart than the maximum length of a launch (1024 steps).
#[test]
fn store_is_bit_identical_to_tracks_in_memory() {
    for machine in machines() {
        let field = machine.field(&frames());
        let closed = Tracer::new(&field).all_faces(BoundaryCondition::Reflect);
        let far = closed.span(steps(0.0, 1.0, 2500)).save(SaveAt::EverySteps(1100));
        for (tracer, count) in [(tracer(&field).save_velocity(true), 300), (far, 20)] {
            let (_folder, stored, summary) = store(&tracer, &seeds(count));
            let in_memory = tracer.trace(&seeds(count)).unwrap();
            let expected = in_memory.summary().unwrap();
            assert_eq!(
                (stored.num_saves(), summary.saves),
                (in_memory.saves().len(), expected.saves)
            );
            assert_eq!(summary.launches, expected.launches, "{machine}");
            assert_eq!(stored.times(), in_memory.times(), "{machine}");
            for (k, save) in in_memory.saves().iter().enumerate() {
                assert_same_save(&machine.to_string(), &stored, k, save);
            }
            assert_eq!(stored.ends().unwrap().status, in_memory.ends().status, "{machine}");
            assert!(summary.trace_seconds > 0.0 && summary.save_seconds > 0.0, "{machine}");
        }
    }
}

/// The gradient, below 3 over a spacing of 1/6, amplifies rounding by at most exp(18), and in practice far
/// less.
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

/// A call of an observer or a sink.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Save(usize),
    Observer,
    End,
}

/// A sink on the host that records its calls, and may fail.
struct Recorder<'a> {
    events: &'a RefCell<Vec<Event>>,
    devices: Vec<String>,
    fails_at: Option<usize>,
}

impl<'a> Recorder<'a> {
    fn new(events: &'a RefCell<Vec<Event>>) -> Self {
        Recorder { events, devices: Vec::new(), fails_at: None }
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
        self.events.borrow_mut().push(Event::Save(save.index));
        self.devices.push(format!("{:?}", save.position.device()));
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        self.events.borrow_mut().push(Event::End);
        Ok(())
    }
}

/// A GPU has already launched the next steps when it passes a save; a CPU saves immediately.
#[test]
fn saves_arrive_in_order_and_on_the_host() {
    for machine in machines() {
        let field = machine.field(&frames());
        let events = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&events);
        let observer = &mut |_| {
            events.borrow_mut().push(Event::Observer);
            Control::Continue
        };
        let tracer = tracer(&field).save(SaveAt::EverySteps(16));
        tracer.trace_into(&seeds(40), &mut sink, observer).unwrap();
        let pairs = (0..4).map(|k| match machine.is_cpu() {
            true => [Event::Save(k), Event::Observer],
            false => [Event::Observer, Event::Save(k)],
        });
        let expected: Vec<_> = pairs.flatten().chain([Event::End]).collect();
        assert_eq!(*events.borrow(), expected, "{machine}");
        let name = if machine.name == "ndarray" { "ndarray" } else { "flex" };
        let host = format!("{:?}", device::open(name).unwrap().device);
        assert_eq!(sink.devices, vec![host; 4], "{machine}");
    }
}

#[test]
fn failing_host_sink_stops_the_run() {
    for machine in machines() {
        let field = machine.field(&frames());
        let events = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&events);
        sink.fails_at = Some(2);
        let result = tracer(&field).trace_into(&seeds(40), &mut sink, &mut |_| Control::Continue);
        match result {
            Err(burntrace::Error::Sink(source)) => {
                assert_eq!(source.to_string(), "the disk is full", "{machine}")
            }
            other => panic!("{machine}: {other:?}"),
        }
        assert_eq!(*events.borrow(), [Event::Save(0), Event::Save(1)], "{machine}");
    }
}

#[test]
fn cancelled_run_passes_the_pending_save() {
    for machine in machines() {
        let field = machine.field(&frames());
        let events = RefCell::new(Vec::new());
        let mut sink = Recorder::new(&events);
        let summary = tracer(&field)
            .save(SaveAt::EverySteps(12))
            .trace_into(&seeds(40), &mut sink, &mut |progress| {
                if progress.time >= 0.5 { Control::Cancel } else { Control::Continue }
            })
            .unwrap();
        let expected = [Event::Save(0), Event::Save(1), Event::Save(2), Event::End];
        assert_eq!(*events.borrow(), expected, "{machine}");
        assert_eq!((summary.saves, summary.steps), (3, 24), "{machine}");
        assert!(summary.cancelled, "{machine}");
    }
}

/// `Tracks` accepts saves on the device.
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

/// Tensors that track gradients stay on their device, even for sinks on the host.
#[test]
fn saves_passed_to_host_sinks_keep_their_gradients() {
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
