fn main() { groupwire_lab::afec::narrow(); }
