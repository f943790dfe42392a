//! Puts functions that resemble each other side by side, so that a module becomes smaller when it
//! is compressed: gzip finds repetitions only within 32 KiB, and brotli has shorter codes for near
//! repetitions.

use std::collections::HashMap;
use std::error::Error;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{CodeSection, FunctionSection};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

/// Functions are similar if they share byte sequences of this length.
const SEQUENCE: usize = 5;

/// A sequence that occurs in more functions than this does not count as a similarity.
const COMMON: usize = 200;

/// The similarity to a placed function is multiplied by this factor for each function placed after
/// it. This value was best for the browser's core.
const FADING: f64 = 0.9;

/// The module with its functions in another order.
pub fn order(wasm: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    let mut module = wasm_encoder::Module::new();
    let order = by_likeness(&bodies);
    Reordered::new(imported, order).parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// Orders the functions greedily: the next one is the most similar to the last ones, relative to
/// its size.
fn by_likeness(bodies: &[&[u8]]) -> Vec<usize> {
    let counts: Vec<HashMap<&[u8], u32>> = bodies.iter().map(|body| sequences(body)).collect();
    let mut holders: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (index, counts) in counts.iter().enumerate() {
        for sequence in counts.keys() {
            holders.entry(sequence).or_default().push(index);
        }
    }
    let mut order = Vec::new();
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    let mut likeness = vec![0.0; bodies.len()];
    let value = |likeness: &[f64], index: usize| likeness[index] / bodies[index].len() as f64;
    // Of equal values the first one is taken, so that the result is the same each time.
    while let Some(at) = (0..left.len()).reduce(|best, at| {
        if value(&likeness, left[at]) > value(&likeness, left[best]) { at } else { best }
    }) {
        let next = left.remove(at);
        order.push(next);
        likeness.iter_mut().for_each(|likeness| *likeness *= FADING);
        let mut shared: Vec<_> = counts[next].iter().collect();
        shared.sort_unstable();
        for (sequence, &count) in shared {
            let holders = &holders[sequence];
            if holders.len() > COMMON {
                continue;
            }
            let weight = 1.0 / (holders.len() as f64).sqrt();
            for &holder in holders {
                likeness[holder] += weight * f64::from(count.min(counts[holder][sequence]));
            }
        }
    }
    order
}

/// How often each sequence is in a function.
fn sequences(body: &[u8]) -> HashMap<&[u8], u32> {
    let mut counts = HashMap::new();
    for sequence in body.windows(SEQUENCE) {
        *counts.entry(sequence).or_default() += 1;
    }
    counts
}

/// Copies a module and changes the order of its functions.
struct Reordered {
    /// Imported functions come before all others and stay where they are.
    imported: u32,
    /// The functions' old indices in their new order, and their new indices in the old order;
    /// without imports.
    order: Vec<usize>,
    places: Vec<u32>,
}

impl Reordered {
    fn new(imported: u32, order: Vec<usize>) -> Reordered {
        let mut places = vec![0; order.len()];
        for (place, &index) in (0..).zip(&order) {
            places[index] = place;
        }
        Reordered { imported, order, places }
    }
}

type Done = Result<(), reencode::Error>;

impl Reencode for Reordered {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        let own = function.checked_sub(self.imported);
        Ok(own.map_or(function, |own| self.imported + self.places[own as usize]))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Done {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for &index in &self.order {
            functions.function(types[index]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Done {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for index in self.order.clone() {
            self.parse_function_body(code, bodies[index].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_alike_are_put_side_by_side() {
        let bodies: [&[u8]; 5] = [
            b"one body of one kind",
            b"2;2;2;2;2;2",
            b"3-3-3-3",
            b"a body of one kind",
            b"2;2;2;2;",
        ];
        let order = by_likeness(&bodies);
        let place = |index: usize| order.iter().position(|&one| one == index).unwrap();
        assert_eq!(place(0).abs_diff(place(3)), 1);
        assert_eq!(place(1).abs_diff(place(4)), 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn calls_reach_the_functions_that_they_reached_before() {
        // Of functions 0 to 2, each calls the next, and the last returns 7. Reversed, function 2 is
        // the exported one.
        use wasm_encoder::*;
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::I32]);
        let mut functions = FunctionSection::new();
        (0..3).for_each(|_| {
            functions.function(0);
        });
        let mut exports = ExportSection::new();
        exports.export("run", ExportKind::Func, 0);
        let mut code = CodeSection::new();
        for body in [Instruction::Call(1), Instruction::Call(2), Instruction::I32Const(7)] {
            let mut function = Function::new([]);
            function.instruction(&body).instruction(&Instruction::End);
            code.function(&function);
        }
        module.section(&types).section(&functions).section(&exports).section(&code);
        let wasm = module.finish();

        let mut turned = Module::new();
        Reordered::new(0, vec![2, 1, 0])
            .parse_core_module(&mut turned, Parser::new(0), &wasm)
            .unwrap();
        let turned = turned.finish();
        let (mut exported, mut operators) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(&turned) {
            match payload.unwrap() {
                Payload::ExportSection(section) => {
                    exported.extend(section.into_iter().map(|export| export.unwrap().index));
                }
                Payload::CodeSectionEntry(body) => {
                    let mut reader = body.get_operators_reader().unwrap();
                    operators.push(format!("{:?}", reader.read().unwrap()));
                }
                _ => {}
            }
        }
        assert_eq!(exported, [2]);
        let expected =
            ["I32Const { value: 7 }", "Call { function_index: 0 }", "Call { function_index: 1 }"];
        assert_eq!(operators, expected);
    }
}
