fn main() { groupwire_lab::afec::steps(); }
