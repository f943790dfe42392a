//! A session of four people who draw together, from a seed.
//!
//! Each has a list of tasks (go about with the pointer, draw an object, drag one, type, chat), with
//! idle time between them so that all end together. The tasks have exactly the numbers of messages
//! of the GMC paper's Table 3. When all is in order of time, objects get their numbers, and who
//! drags or types gets one of those that exist by then.

use super::motion::{EventLoop, HEIGHT, Pointer, Style, WIDTH};
use super::participant::Participant;
use super::random::Random;
use super::typing::{self, Key};
use super::{Colour, Event, Kind, Object, Point, Shape};

/// Messages of each type in the paper's session (Table 3).
const TELEPOINTERS: usize = 10_593;
const CREATES: usize = 97;
const MOVES: usize = 265;
const RESIZES: usize = 958;
const CHATS: usize = 20;
const EDITS: usize = 916;
const MODELS: usize = 1;

/// The duration of the paper's session, in ms.
const DURATION_MS: f64 = 47.0 * 60_000.0;
/// The time at which it begins: the timestamp in the paper's Figure 6.
const START_MS: u64 = 716_626_384;
/// The share of the messages that each of the four sends, about as in the recorded session.
const ACTIVITY: [f64; 4] = [0.31, 0.38, 0.19, 0.12];
/// The index of the person with a slow machine.
const SLOW: usize = 0;
/// Messages of one dragging, one text and one going about, on average: a drag takes half a second,
/// a text is a sentence or so, and people stop pointing to do something else.
const MOVES_PER_DRAG: usize = 16;
const EDITS_PER_TEXT: usize = 40;
const TELEPOINTERS_PER_TOUR: usize = 65;
/// The number of the first object that anybody draws, after those of an earlier session.
const FIRST_OBJECT: u32 = 41;

/// A session like the one of the GMC paper's section 5.1: of 12,850 messages it has exactly its mix
/// (Table 3) and takes its 47 minutes; of another number of messages the same in proportion. A seed
/// makes the same session everywhere.
pub(crate) fn generate(seed: u64, messages: usize) -> Vec<Event> {
    let mut random = Random::new(seed);
    let mut steps = Vec::with_capacity(messages);
    let duration_ms = DURATION_MS * messages as f64 / 12_850.0;
    let mut tasks = 0;
    for (person, list) in plan(&mut random, messages).into_iter().enumerate() {
        let sender = Participant::SENDERS[person];
        let performed = perform(&mut random, person, &list, duration_ms);
        steps.extend(performed.into_iter().map(|(time, task, action)| Step {
            time_ms: START_MS + time as u64,
            sender,
            task: tasks + task,
            action,
        }));
        tasks += list.len();
    }
    steps.sort_by_key(|step| step.time_ms);
    let mut drawing = Drawing::new(&mut random, tasks);
    steps.into_iter().map(|step| drawing.event(&mut random, step)).collect()
}

/// An uninterrupted activity of one participant.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Points at things, with this number of messages.
    Tour(usize),
    /// Draws an object, with this number of messages that resize it.
    Draw(usize),
    /// Drags an object.
    Drag(usize),
    /// Types a text and deletes parts of it, with this number of messages.
    Type(usize),
    Chat,
    /// Sends the whole drawing to a participant that joined late.
    Update,
}

/// A message whose object is chosen later.
struct Step {
    time_ms: u64,
    sender: u32,
    /// The index of its task among the tasks of all people.
    task: usize,
    action: Action,
}

enum Action {
    Point(Point),
    Create(Shape, Colour, Point),
    Resize(Point, Point),
    Move(Point),
    Key(Key),
    Chat(String),
    Update,
}

/// The tasks of all people, in their order.
fn plan(random: &mut Random, messages: usize) -> [Vec<Task>; 4] {
    let table = [TELEPOINTERS, CREATES, MOVES, RESIZES, CHATS, EDITS, MODELS];
    let counts = Random::split(messages, &table.map(|count| count as f64));
    let [mut pointers, creates, moves, resizes, chats, edits, updates] =
        counts.try_into().expect("there is a part for each weight");
    if creates == 0 {
        pointers += resizes;
    }
    let mut work: Vec<Task> = Vec::new();
    work.extend(parts(random, resizes, creates).into_iter().map(Task::Draw));
    let drags = moves.div_ceil(MOVES_PER_DRAG);
    work.extend(parts(random, moves, drags).into_iter().filter(|n| *n > 0).map(Task::Drag));
    let texts = edits.div_ceil(EDITS_PER_TEXT);
    work.extend(parts(random, edits, texts).into_iter().filter(|n| *n > 0).map(Task::Type));
    work.extend(std::iter::repeat_n(Task::Chat, chats));
    let tours = pointers.div_ceil(TELEPOINTERS_PER_TOUR);
    work.extend(parts(random, pointers, tours).into_iter().filter(|n| *n > 0).map(Task::Tour));
    random.shuffle(&mut work);
    // Participants that are late join in the middle of the session.
    let middle = work.len() / 2;
    work.splice(middle..middle, std::iter::repeat_n(Task::Update, updates));

    let mut lists = [const { Vec::new() }; 4];
    for task in work {
        let mut left = random.between(0.0, 1.0);
        let person = ACTIVITY.iter().position(|part| {
            left -= part;
            left < 0.0
        });
        lists[person.unwrap_or(0)].push(task);
    }
    lists.iter_mut().for_each(|list| begin_by_pointing(list));
    lists
}

/// Lets a person look around before it does anything else, as in the session made of recordings.
/// What comes first matters to the GMC paper's compressor with a target ratio that stays at 30 %:
/// of XML and Java it makes the first message a template and then no other, since that one is good
/// enough for all. If the first message creates an object, it makes 13.6 % of XML and 14.6 % of
/// Java instead of 9.2 and 7.7 %.
fn begin_by_pointing(list: &mut [Task]) {
    if let Some(tour) = list.iter().position(|task| matches!(task, Task::Tour(_))) {
        list[..=tour].rotate_right(1);
    }
}

/// Splits `messages` messages over `tasks` tasks of different lengths.
fn parts(random: &mut Random, messages: usize, tasks: usize) -> Vec<usize> {
    let weights: Vec<_> = (0..tasks).map(|_| random.skewed(1.0, 0.4)).collect();
    if weights.is_empty() { Vec::new() } else { Random::split(messages, &weights) }
}

/// One person's messages, each with its time and the number of its task.
fn perform(
    random: &mut Random,
    person: usize,
    tasks: &[Task],
    duration_ms: f64,
) -> Vec<(f64, usize, Action)> {
    let mut somebody = Somebody {
        pointer: Pointer::new(random),
        events: if person == SLOW { EventLoop::SLOW } else { EventLoop::FAST },
        clock: 0.0,
        done: Vec::new(),
    };
    let mut starts = Vec::with_capacity(tasks.len());
    for (number, task) in tasks.iter().enumerate() {
        starts.push(somebody.done.len());
        somebody.perform(random, number, *task);
    }
    // Idle time: most breaks are short and a few are long.
    let idle_ms = (duration_ms - somebody.clock).max(0.0);
    let weights: Vec<_> = tasks.iter().map(|_| random.skewed(1.0, 1.4)).collect();
    let all: f64 = weights.iter().sum();
    let mut break_ms = 0.0;
    for (number, start) in starts.iter().enumerate() {
        let whole_frames = (idle_ms * weights[number] / all / somebody.events.frame_ms).floor();
        break_ms += whole_frames * somebody.events.frame_ms;
        let end = starts.get(number + 1).copied().unwrap_or(somebody.done.len());
        somebody.done[*start..end].iter_mut().for_each(|step| step.0 += break_ms);
    }
    somebody.done
}

struct Somebody {
    pointer: Pointer,
    events: EventLoop,
    clock: f64,
    done: Vec<(f64, usize, Action)>,
}

impl Somebody {
    fn perform(&mut self, random: &mut Random, number: usize, task: Task) {
        match task {
            Task::Tour(count) => {
                let places = self.places(random, Style::Pointing, count);
                self.add(number, places, Action::Point);
            }
            Task::Draw(count) => {
                let fixed = self.pointer.place();
                let (shape, colour) = (random.pick(&Shape::ALL), colour(random));
                self.clock += random.skewed(300.0, 0.5);
                self.done.push((self.clock, number, Action::Create(shape, colour, fixed)));
                // The button's event creates the object and gives it its first size at once.
                if count > 0 {
                    self.done.push((self.clock + 1.0, number, Action::Resize(fixed, fixed)));
                }
                let places = self.places(random, Style::Dragging, count.saturating_sub(1));
                self.add(number, places, |corner| Action::Resize(fixed, corner));
            }
            Task::Drag(count) => {
                let places = self.places(random, Style::Dragging, count);
                self.add(number, places, Action::Move);
            }
            Task::Type(count) => {
                for (after, key) in typing::keys(random, count) {
                    self.clock += after;
                    self.done.push((self.clock, number, Action::Key(key)));
                }
            }
            Task::Chat => {
                let text = typing::sentence(random);
                self.clock += text.chars().map(|_| random.skewed(150.0, 0.4)).sum::<f64>();
                self.done.push((self.clock, number, Action::Chat(text)));
            }
            Task::Update => self.done.push((self.clock, number, Action::Update)),
        }
        self.clock += random.skewed(400.0, 0.5);
    }

    fn places(&mut self, random: &mut Random, style: Style, count: usize) -> Vec<(f64, Point)> {
        self.pointer.sends(random, (&self.events, style), &mut self.clock, count)
    }

    fn add(&mut self, task: usize, places: Vec<(f64, Point)>, action: impl Fn(Point) -> Action) {
        self.done.extend(places.into_iter().map(|(time, place)| (time, task, action(place))));
    }
}

/// Half of all that is drawn is black, which is what applications begin with.
fn colour(random: &mut Random) -> Colour {
    if random.chance(0.4) { Colour::Black } else { random.pick(&Colour::ALL) }
}

/// The drawing, to which objects are added over time.
struct Drawing {
    objects: Vec<Object>,
    /// The number of characters in each object.
    texts: Vec<u32>,
    /// The object of each task, once the task has begun.
    chosen: Vec<Option<usize>>,
}

impl Drawing {
    /// A drawing with a title, so that there is an object to change from the start.
    fn new(random: &mut Random, tasks: usize) -> Self {
        let title = Object {
            object: FIRST_OBJECT,
            shape: Shape::Text,
            colour: Colour::Black,
            from: Point { x: 600, y: 40 },
            to: Point { x: 1300, y: 90 },
        };
        let characters = typing::sentence(random).len() as u32;
        Self { objects: vec![title], texts: vec![characters], chosen: vec![None; tasks] }
    }

    fn event(&mut self, random: &mut Random, step: Step) -> Event {
        let Step { time_ms, sender, task, action } = step;
        let kind = match action {
            Action::Point(at) => Kind::Telepointer(at),
            Action::Chat(text) => Kind::Chat { text },
            Action::Update => Kind::Model { objects: self.objects.clone() },
            Action::Create(shape, colour, at) => {
                let object = FIRST_OBJECT + self.objects.len() as u32;
                self.chosen[task] = Some(self.objects.len());
                self.objects.push(Object { object, shape, colour, from: at, to: at });
                self.texts.push(0);
                Kind::Create { object, shape, colour, at }
            }
            action => self.change(random, task, action),
        };
        Event { time_ms, sender, kind }
    }

    fn change(&mut self, random: &mut Random, task: usize, action: Action) -> Kind {
        let among = self.objects.len();
        let at = *self.chosen[task].get_or_insert_with(|| random.below(among));
        let (object, text) = (&mut self.objects[at], &mut self.texts[at]);
        let number = object.object;
        match action {
            Action::Resize(fixed, corner) => {
                object.to = corner;
                Kind::Resize { object: number, fixed, corner }
            }
            Action::Move(to) => {
                let moved = |corner: u16, from: u16, to: u16, size: u16| {
                    (corner + to).saturating_sub(from).min(size - 1)
                };
                object.to.x = moved(object.to.x, object.from.x, to.x, WIDTH);
                object.to.y = moved(object.to.y, object.from.y, to.y, HEIGHT);
                object.from = to;
                Kind::Move { object: number, to }
            }
            Action::Key(Key::Character(character)) => {
                let position = *text;
                *text += 1;
                let inserted = character.to_string();
                Kind::Edit { object: number, position, deleted: 0, inserted }
            }
            Action::Key(Key::Delete) => {
                *text = text.saturating_sub(1);
                Kind::Edit { object: number, position: *text, deleted: 1, inserted: String::new() }
            }
            Action::Point(_) | Action::Create(..) | Action::Chat(_) | Action::Update => {
                unreachable!("these change no object that exists")
            }
        }
    }
}
