//! Splits a WebAssembly module into two that share memory, tables and globals.
//!
//! The first part is what the exports and the function table reach without entering a function of
//! the [`Boundary`]. All other functions are in the second part. Where the first part calls one of
//! them, it has a *trampoline*, a function that calls it through a slot of the function table. The
//! slots are empty until the second part is instantiated with the exports of the first: a call
//! before that ends in a `RuntimeError` of JavaScript.

use std::collections::BTreeMap;
use std::error::Error;

use walrus::ir::{Value, Visitor, dfs_in_order};
use walrus::{
    ConstExpr, ElementItems, ElementKind, ExportItem, FunctionBuilder, FunctionId, FunctionKind,
    GlobalId, GlobalKind, ImportKind, MemoryId, Module, TableId,
};

use crate::boundary::Boundary;
use crate::parse;

/// The name under which the second part imports the exports of the first.
const FIRST: &str = "first";

pub struct Parts {
    pub first: Vec<u8>,
    pub second: Vec<u8>,
    /// The number of functions in the second part, and in both.
    pub moved: usize,
    pub functions: usize,
}

pub fn split(wasm: &[u8], boundary: &Boundary) -> Result<Parts, Box<dyn Error>> {
    // Each part is the whole module without the functions of the other. Both have the same indices.
    let (mut first, mut second) = (parse(wasm)?, parse(wasm)?);
    let plan = Plan::of(&first, boundary)?;
    let functions = plan.functions.len();
    let moved = (0..functions).filter(|&index| plan.is_moved(index)).count();
    make_first(&mut first, &plan)?;
    make_second(&mut second, &plan)?;
    Ok(Parts { first: first.emit_wasm(), second: second.emit_wasm(), moved, functions })
}

/// The parts of all functions, tables and globals, which are numbered in the order of the module.
struct Plan {
    functions: Vec<Uses>,
    is_first: Vec<bool>,
    /// The function table's contents before the split, by slot.
    slots: BTreeMap<usize, usize>,
    /// The function of the second part that each trampoline of the first part calls, and its slot.
    trampolines: BTreeMap<usize, usize>,
    /// The number of slots with those that were added for trampolines.
    table_size: usize,
    /// The functions, tables and globals of the first part that the second uses.
    shared: SharedItems,
}

#[derive(Default)]
struct SharedItems {
    functions: Vec<usize>,
    tables: Vec<usize>,
    globals: Vec<usize>,
}

/// The items that a function uses. Imported functions use nothing.
#[derive(Default)]
struct Uses {
    is_import: bool,
    functions: Vec<usize>,
    tables: Vec<usize>,
    globals: Vec<usize>,
}

impl Plan {
    fn of(module: &Module, boundary: &Boundary) -> Result<Plan, Box<dyn Error>> {
        let functions: Vec<Uses> = module.funcs.iter().map(Uses::of).collect();
        let slots = table_contents(module)?;
        let is_boundary: Vec<bool> = module
            .funcs
            .iter()
            .map(|function| function.name.as_ref().is_some_and(|name| boundary.holds(name)))
            .collect();
        let exported = module.exports.iter().filter_map(|export| match export.item {
            ExportItem::Function(id) => Some(id.index()),
            _ => None,
        });
        let start = module.start.map(|id| id.index());
        let roots = exported.chain(start).chain(slots.values().copied());
        let mut is_first: Vec<bool> = functions.iter().map(|uses| uses.is_import).collect();
        let mut open: Vec<usize> = roots.filter(|&index| !is_boundary[index]).collect();
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut is_first[index], true) {
                let called = functions[index].functions.iter().copied();
                open.extend(called.filter(|&called| !is_boundary[called]));
            }
        }
        let mut plan = Plan {
            functions,
            is_first,
            trampolines: BTreeMap::new(),
            table_size: slots.keys().max().map_or(0, |last| last + 1),
            slots,
            shared: SharedItems::default(),
        };
        plan.add_trampolines(module);
        plan.share();
        Ok(plan)
    }

    fn is_moved(&self, index: usize) -> bool {
        !self.is_first[index]
    }

    /// A trampoline for each function of the second part that the first calls or exports. The
    /// trampoline uses the slot that the function has already, or a new one.
    fn add_trampolines(&mut self, module: &Module) {
        let exported = module.exports.iter().filter_map(|export| match export.item {
            ExportItem::Function(id) => Some(id.index()),
            _ => None,
        });
        let called = (0..self.functions.len()).filter(|&index| self.is_first[index]);
        let called = called.flat_map(|index| self.functions[index].functions.iter().copied());
        let wanted = exported.chain(called).chain(module.start.map(|id| id.index()));
        let wanted: Vec<usize> = wanted.filter(|&index| self.is_moved(index)).collect();
        // Slot 0 is the null pointer of Rust.
        self.table_size = self.table_size.max(1);
        for function in wanted {
            if self.trampolines.contains_key(&function) {
                continue;
            }
            let known = self.slots.iter().find(|(_, held)| **held == function);
            let slot = known.map_or(self.table_size, |(slot, _)| *slot);
            self.table_size = self.table_size.max(slot + 1);
            self.slots.insert(slot, function);
            self.trampolines.insert(function, slot);
        }
    }

    fn share(&mut self) {
        let moved = || (0..self.functions.len()).filter(|&index| self.is_moved(index));
        let all = |of: fn(&Uses) -> &Vec<usize>| {
            let mut all: Vec<usize> =
                moved().flat_map(|index| of(&self.functions[index]).iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let functions = all(|uses| &uses.functions);
        let is_shared = |index: &usize| self.is_first[*index] && !self.functions[*index].is_import;
        self.shared = SharedItems {
            functions: functions.into_iter().filter(is_shared).collect(),
            tables: all(|uses| &uses.tables),
            globals: all(|uses| &uses.globals),
        };
    }

    /// The slots whose functions are in the given part, as runs of neighbours: the first slot, and
    /// the functions.
    fn runs(&self, is_second: bool) -> Vec<(usize, Vec<usize>)> {
        let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
        for (&slot, &function) in &self.slots {
            if self.is_moved(function) != is_second {
                continue;
            }
            match runs.last_mut() {
                Some((start, run)) if *start + run.len() == slot => run.push(function),
                _ => runs.push((slot, vec![function])),
            }
        }
        runs
    }
}

impl Uses {
    fn of(function: &walrus::Function) -> Uses {
        let mut uses = Uses::default();
        match &function.kind {
            FunctionKind::Local(local) => dfs_in_order(&mut uses, local, local.entry_block()),
            _ => uses.is_import = true,
        }
        uses
    }
}

impl<'instr> Visitor<'instr> for Uses {
    fn visit_function_id(&mut self, function: &FunctionId) {
        self.functions.push(function.index());
    }

    fn visit_table_id(&mut self, table: &TableId) {
        self.tables.push(table.index());
    }

    fn visit_global_id(&mut self, global: &GlobalId) {
        self.globals.push(global.index());
    }
}

/// The first part: functions of the second become trampolines, or are left out.
fn make_first(module: &mut Module, plan: &Plan) -> Result<(), Box<dyn Error>> {
    let table = function_table(module)?;
    resize(module, table, plan);
    for index in (0..plan.functions.len()).filter(|&index| plan.is_moved(index)) {
        let id = function_id(module, index);
        match plan.trampolines.get(&index) {
            Some(&slot) => make_trampoline(module, id, table, slot),
            None => module.funcs.delete(id),
        }
    }
    fill_table(module, table, &plan.runs(false));
    let shared = &plan.shared;
    for (at, &index) in shared.functions.iter().enumerate() {
        let id = function_id(module, index);
        module.exports.add(&name_of("f", at), id);
    }
    for &index in &shared.globals {
        let id = module.globals.iter().nth(index).ok_or("a global is missing")?.id();
        module.exports.add(&name_of("g", index), id);
    }
    for (index, id) in shared_tables(module, plan, table) {
        module.exports.add(&name_of("t", index), id);
    }
    let memory = only_memory(module)?;
    if module.exports.get_exported_memory(memory).is_none() {
        return Err("the module does not export its memory".into());
    }
    Ok(())
}

/// The second part: all that it shares with the first is imported.
fn make_second(module: &mut Module, plan: &Plan) -> Result<(), Box<dyn Error>> {
    let table = function_table(module)?;
    let memory = only_memory(module)?;
    let memory_name = module.exports.get_exported_memory(memory).map(|export| export.name.clone());
    resize(module, table, plan);
    let exports: Vec<_> = module.exports.iter().map(|export| export.id()).collect();
    exports.into_iter().for_each(|id| module.exports.delete(id));
    module.start = None;
    fill_table(module, table, &plan.runs(true));

    let shared_at = |index: usize| plan.shared.functions.binary_search(&index);
    for (index, uses) in plan.functions.iter().enumerate() {
        let id = function_id(module, index);
        if let Ok(at) = shared_at(index) {
            let import = module.imports.add(FIRST, &name_of("f", at), id);
            let function = module.funcs.get_mut(id);
            let ty = function.ty();
            function.kind = FunctionKind::Import(walrus::ImportedFunction { import, ty });
        } else if plan.is_first[index] && !uses.is_import {
            module.funcs.delete(id);
        }
    }
    let globals: Vec<GlobalId> = module.globals.iter().map(|global| global.id()).collect();
    for (index, id) in globals.into_iter().enumerate() {
        if plan.shared.globals.contains(&index) {
            let import = module.imports.add(FIRST, &name_of("g", index), id);
            module.globals.get_mut(id).kind = GlobalKind::Import(import);
        } else {
            module.globals.delete(id);
        }
    }
    let shared_tables = shared_tables(module, plan, table);
    let tables: Vec<TableId> = module.tables.iter().map(|table| table.id()).collect();
    for id in tables {
        match shared_tables.iter().find(|(_, shared)| *shared == id) {
            Some((index, _)) => {
                let import = module.imports.add(FIRST, &name_of("t", *index), id);
                module.tables.get_mut(id).import = Some(import);
            }
            None => module.tables.delete(id),
        }
    }
    let import = module.imports.add(FIRST, &memory_name.ok_or("no exported memory")?, memory);
    let data: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    data.into_iter().for_each(|id| module.data.delete(id));
    let memory = module.memories.get_mut(memory);
    memory.import = Some(import);
    memory.data_segments.clear();
    drop_unused_imports(module, plan);
    Ok(())
}

/// Removes the imports of JavaScript functions that the second part does not call.
fn drop_unused_imports(module: &mut Module, plan: &Plan) {
    let moved = (0..plan.functions.len()).filter(|&index| plan.is_moved(index));
    let used: Vec<usize> =
        moved.flat_map(|index| plan.functions[index].functions.iter().copied()).collect();
    let unused: Vec<_> = module
        .imports
        .iter()
        .filter_map(|import| match import.kind {
            ImportKind::Function(id) if !used.contains(&id.index()) => Some((import.id(), id)),
            _ => None,
        })
        .collect();
    for (import, function) in unused {
        module.imports.delete(import);
        module.funcs.delete(function);
    }
}

fn make_trampoline(module: &mut Module, id: FunctionId, table: TableId, slot: usize) {
    let ty = module.funcs.get(id).ty();
    let (params, results) = (module.types.params(ty).to_vec(), module.types.results(ty).to_vec());
    let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
    let args: Vec<_> = params.iter().map(|&param| module.locals.add(param)).collect();
    let mut body = builder.func_body();
    for &arg in &args {
        body.local_get(arg);
    }
    body.i32_const(slot as i32).call_indirect(ty, table);
    module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
}

/// Replaces the contents of the function table.
fn fill_table(module: &mut Module, table: TableId, runs: &[(usize, Vec<usize>)]) {
    let before: Vec<_> = module.elements.iter().map(|element| element.id()).collect();
    before.into_iter().for_each(|id| module.elements.delete(id));
    module.tables.get_mut(table).elem_segments.clear();
    for (start, run) in runs {
        let items = run.iter().map(|&index| function_id(module, index)).collect();
        let offset = ConstExpr::Value(Value::I32(*start as i32));
        let kind = ElementKind::Active { table, offset };
        let id = module.elements.add(kind, ElementItems::Functions(items));
        module.tables.get_mut(table).elem_segments.insert(id);
    }
}

/// The function of each slot of the function table.
fn table_contents(module: &Module) -> Result<BTreeMap<usize, usize>, Box<dyn Error>> {
    let table = function_table(module)?;
    let mut slots = BTreeMap::new();
    for element in module.elements.iter() {
        let (ElementKind::Active { table: of, offset }, ElementItems::Functions(items)) =
            (&element.kind, &element.items)
        else {
            return Err(
                "the module has other element segments than active lists of functions".into()
            );
        };
        let ConstExpr::Value(Value::I32(start)) = offset else {
            return Err("an element segment's offset is not a number".into());
        };
        if *of == table {
            let items = items.iter().enumerate();
            slots.extend(items.map(|(at, id)| (*start as usize + at, id.index())));
        }
    }
    Ok(slots)
}

fn resize(module: &mut Module, table: TableId, plan: &Plan) {
    let table = module.tables.get_mut(table);
    table.initial = table.initial.max(plan.table_size as u64);
    table.maximum = table.maximum.map(|maximum| maximum.max(table.initial));
}

/// The tables that both parts use, the function table always: the second part fills its slots.
fn shared_tables(module: &Module, plan: &Plan, function_table: TableId) -> Vec<(usize, TableId)> {
    let tables = module.tables.iter().map(|table| table.id()).enumerate();
    let is_shared = |(index, id): &(usize, TableId)| {
        *id == function_table || plan.shared.tables.contains(index)
    };
    tables.filter(is_shared).collect()
}

fn function_table(module: &Module) -> Result<TableId, Box<dyn Error>> {
    Ok(module.tables.main_function_table()?.ok_or("the module has no function table")?)
}

fn only_memory(module: &Module) -> Result<MemoryId, Box<dyn Error>> {
    let mut memories = module.memories.iter();
    match (memories.next(), memories.next()) {
        (Some(memory), None) => Ok(memory.id()),
        _ => Err("the module does not have exactly one memory".into()),
    }
}

fn function_id(module: &Module, index: usize) -> FunctionId {
    // Nothing is deleted from the arena itself, so that indices stay.
    module
        .funcs
        .iter()
        .find(|function| function.id().index() == index)
        .map(|f| f.id())
        .expect("known")
}

/// The name of what is exported by the first part for the second one. It is short, because it is
/// downloaded twice.
fn name_of(kind: &str, index: usize) -> String {
    format!("{kind}{index}")
}
