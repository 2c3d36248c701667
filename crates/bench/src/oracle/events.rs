//! Straight paths among domain faces, obstacles and mesh walls, from event to event.

use super::{Case, Point, Space, bodies, vectors::*};
use burntrace::{BoundaryCondition, Face, Status};

/// What a particle can meet in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Met {
    Face(BoundaryCondition),
    Wall(Response),
    /// A periodic face with an obstacle directly behind it.
    Covered(Response),
}

/// The effect of a wall on a particle that meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// The rest of the path is mirrored.
    Reflect,
    /// The rest of the path loses its component towards the wall.
    Slide,
    /// The particle ends with this status.
    End(Status),
}

impl Response {
    /// The response of a surface at which particles exit with a status; a periodic face has none.
    pub fn of(condition: BoundaryCondition, exit: Status) -> Self {
        match condition {
            BoundaryCondition::Reflect => Response::Reflect,
            BoundaryCondition::Slide | BoundaryCondition::Clamp => Response::Slide,
            BoundaryCondition::Stick => Response::End(Status::Stuck),
            BoundaryCondition::Exit => Response::End(exit),
            BoundaryCondition::Periodic => panic!("a periodic face does not respond"),
        }
    }
}

/// A contact of a straight path with a wall.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// The fraction of the path.
    pub fraction: f64,
    /// The unit normal of the wall, towards the allowed side.
    pub normal: Point,
    pub response: Response,
}

/// Maximum number of events in a step; a particle with more waits at the last one.
const MAX_EVENTS: usize = 64;

/// A wall this close to a face of the box, and parallel to it, coincides with it.
const COINCIDENT: f64 = 1e-12;

/// The path of a particle through one step.
pub struct Passage<'a, S> {
    case: &'a Case<S>,
    pub position: Point,
    pub image: [i64; 3],
    /// The status and the fraction of the step at which the particle ended.
    pub end: Option<(Status, f64)>,
    pub met: Vec<Met>,
    /// The displacement that is left.
    rest: Point,
    /// The fraction of the step that is done.
    done: f64,
}

/// The next event on a path.
enum Event {
    Face(usize, usize, f64),
    /// With the number of the obstacle; none for the wall of a mesh.
    Wall(Option<usize>, Contact),
}

impl Event {
    fn fraction(&self) -> f64 {
        match self {
            Event::Face(_, _, fraction) => *fraction,
            Event::Wall(_, contact) => contact.fraction,
        }
    }
}

impl<'a, S: Space> Passage<'a, S> {
    /// Follows a displacement to its end.
    pub fn follow(case: &'a Case<S>, from: Point, displacement: Point) -> Self {
        let mut passage = Passage {
            case,
            position: from,
            image: [0; 3],
            end: None,
            met: Vec::new(),
            rest: displacement,
            done: 0.0,
        };
        for _ in 0..MAX_EVENTS {
            let Some(event) = passage.next_event() else {
                passage.position = plus(passage.position, passage.rest);
                return passage;
            };
            passage.advance(event.fraction());
            match event {
                Event::Face(axis, side, _) => passage.meet_face(axis, side),
                Event::Wall(which, contact) => passage.meet_wall(which, contact),
            }
            if passage.end.is_some() {
                return passage;
            }
        }
        passage
    }

    fn next_event(&self) -> Option<Event> {
        let (from, to) = (self.position, plus(self.position, self.rest));
        let obstacles = self.case.obstacles.iter().enumerate();
        let contacts = obstacles.filter_map(|(which, obstacle)| {
            Some(Event::Wall(Some(which), bodies::first_contact(obstacle, from, to)?))
        });
        let faces = (0..6).filter_map(|i| self.crossing(i / 2, i % 2));
        let first = |a: &Event, b: &Event| a.fraction().total_cmp(&b.fraction());
        let event = contacts.chain(faces).min_by(first);
        let Some(contact) = self.case.frames.first_wall(from, to) else { return event };
        match event {
            Some(Event::Face(axis, ..)) if self.is_on_face(axis, &contact) => event,
            Some(event) if event.fraction() <= contact.fraction => Some(event),
            _ => Some(Event::Wall(None, contact)),
        }
    }

    /// Whether a wall of the field coincides with a face of the box, whose condition applies there.
    fn is_on_face(&self, axis: usize, contact: &Contact) -> bool {
        let at = self.position[axis] + contact.fraction * self.rest[axis];
        let is_near = |face: Point| (at - face[axis]).abs() < COINCIDENT;
        contact.normal[axis].abs() > 0.999 && self.case.frames.corners().into_iter().any(is_near)
    }

    /// The crossing of a domain face, if the path leads through it.
    fn crossing(&self, axis: usize, side: usize) -> Option<Event> {
        let at = self.case.frames.corners()[side][axis];
        let (reach, step) = (at - self.position[axis], self.rest[axis]);
        let leads_out = if side == 1 { step > reach } else { step < reach };
        let is_crossed = leads_out && !self.case.is_flat(axis);
        is_crossed.then(|| Event::Face(axis, side, reach / step))
    }

    fn advance(&mut self, fraction: f64) {
        self.position = plus(self.position, scaled(self.rest, fraction));
        self.rest = scaled(self.rest, 1.0 - fraction);
        self.done += fraction * (1.0 - self.done);
    }

    fn meet_face(&mut self, axis: usize, side: usize) {
        let corners = self.case.frames.corners();
        self.position[axis] = corners[side][axis];
        let condition = self.case.faces[axis][side];
        self.met.push(Met::Face(condition));
        if condition == BoundaryCondition::Periodic {
            return self.cross_periodic(axis, side, corners[1 - side][axis]);
        }
        match Response::of(condition, Status::Exited(Face::ALL[2 * axis + side])) {
            Response::Reflect => self.rest[axis] = -self.rest[axis],
            Response::Slide => self.rest[axis] = 0.0,
            Response::End(status) => self.end = Some((status, self.done)),
        }
    }

    /// Enters through the opposite face. Where an obstacle covers it, the face acts as its surface.
    fn cross_periodic(&mut self, axis: usize, side: usize, opposite: f64) {
        let mut entered = self.position;
        entered[axis] = opposite;
        let covers = |which: &usize| !bodies::allows(&self.case.obstacles[*which], entered);
        if let Some(which) = (0..self.case.obstacles.len()).find(covers) {
            let mut normal = [0.0; 3];
            normal[axis] = [1.0, -1.0][side];
            let response = bodies::response(&self.case.obstacles[which]);
            self.met.push(Met::Covered(response));
            self.respond(Some(which), normal, response);
            return;
        }
        self.position = entered;
        self.image[axis] += [-1, 1][side];
    }

    fn meet_wall(&mut self, which: Option<usize>, contact: Contact) {
        self.met.push(Met::Wall(contact.response));
        let held = plus(self.position, scaled(contact.normal, self.case.held));
        let [low, high] = self.case.frames.corners();
        self.position = std::array::from_fn(|d| held[d].clamp(low[d], high[d]));
        self.respond(which, contact.normal, contact.response);
    }

    fn respond(&mut self, which: Option<usize>, normal: Point, response: Response) {
        let towards = dot(self.rest, normal).min(0.0);
        match response {
            Response::Reflect => self.rest = plus(self.rest, scaled(normal, -2.0 * towards)),
            Response::Slide => {
                self.rest = plus(self.rest, scaled(normal, -towards));
                if let Some(which) = which {
                    let to = plus(self.position, self.rest);
                    let to =
                        bodies::nearest_in_vessel(&self.case.obstacles[which], to, self.case.held);
                    self.rest = minus(to, self.position);
                }
            }
            Response::End(status) => self.end = Some((status, self.done)),
        }
    }
}
