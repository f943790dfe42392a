import type { Channel, Qos } from "groupwire";
import { expect, test } from "vitest";
import { CALM, TALKING, Talking } from "../src/net/talking";

/** A channel whose server agrees to every request. */
function pointer(): Channel & { readonly asked: readonly Partial<Qos>[] } {
  const asked: Partial<Qos>[] = [];
  const channel = {
    qos: { kind: "awareness", ...CALM },
    asked,
    setQos(change: Partial<Qos>): void {
      asked.push(change);
      Object.assign(channel.qos, change);
    },
  };
  return channel as unknown as Channel & { readonly asked: readonly Partial<Qos>[] };
}

const person = (id: number, talking = false, away = false) => ({ id, presence: { name: "Ada", talking }, away });

test("the first talker requests the stricter QoS, the last one the normal QoS", () => {
  const channel = pointer();
  const talking = new Talking(channel);
  talking.toggle(person(5), [person(2)]);
  expect(channel.asked).toEqual([TALKING]);
  expect([talking.isOn, talking.isHeard]).toEqual([true, true]);
  talking.toggle(person(5), [person(2, true)]);
  expect(channel.asked).toEqual([TALKING]);
  talking.settle(person(5), [person(2)]);
  expect(channel.asked).toEqual([TALKING]);
  talking.toggle(person(5), [person(2)]);
  talking.toggle(person(5), [person(2)]);
  expect(channel.asked).toEqual([TALKING, CALM]);
});

test("the first participant requests the normal QoS if a talker leaves without a message", () => {
  const channel = pointer();
  Object.assign(channel.qos, TALKING);
  const talking = new Talking(channel);
  talking.settle(person(5), [person(2), person(7, true)]);
  expect(channel.asked).toEqual([]);
  talking.settle(person(2), [person(5), person(7, true, true)]);
  expect(channel.asked).toEqual([CALM]);
});

test("an invalid presence does not count as talking", () => {
  const channel = pointer();
  const talking = new Talking(channel);
  for (const presence of [undefined, null, "talking", { talking: "yes" }]) {
    talking.settle(person(1), [{ id: 2, presence, away: false }]);
  }
  expect(channel.asked).toEqual([]);
});
