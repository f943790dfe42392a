fn main() {
    groupwire_lab::afec::probe();
}
