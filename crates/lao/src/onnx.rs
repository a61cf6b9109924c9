//! Models as ONNX graphs.
//!
//! Each column is an input of its name and of shape `[rows, 1]`: numbers in double precision, words as
//! strings. The graph is that of the predictor:
//!
//! ```text
//! attribute   Where(IsNaN(x), mean, Clip(x, low, high)),  or  Where(x = "", mean, Where(x = word, 1, 0))
//! predicted   intercept + sum of coefficient * attribute
//! probability Sigmoid(offset + slope * predicted)                    for two classes
//! trees       TreeEnsembleRegressor(Concat(attributes)), in single precision, added to predicted
//! class       Where(predicted > threshold, positive, negative)       for two classes
//! ```
//!
//! Only the messages and fields that such a graph needs are declared below, with the numbers of `onnx.proto`.

use crate::examples::Label;
use crate::model::{Coefficient, Model};
use lao_algorithms::trees::Trees;
use prost::Message;

/// The version of the operators: the first with comparisons of strings.
const OPERATORS: i64 = 19;
/// The version of the file format that goes with it.
const FORMAT: i64 = 9;
/// The names of the outputs.
const OUTPUTS: [&str; 3] = ["predicted", "class", "probability"];
/// The operators of trees, and their version: the first with cuts in double precision.
const TREES: &str = "ai.onnx.ml";
const OF_TREES: i64 = 3;
/// `AttributeProto.AttributeType`.
const INT: i32 = 2;
const TENSOR: i32 = 4;
const INTS: i32 = 7;
const STRINGS: i32 = 8;
/// `TensorProto.DataType`.
const STRING: i32 = 8;
const DOUBLE: i32 = 11;

#[derive(Clone, PartialEq, Message)]
struct ModelProto {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(string, tag = "3")]
    producer_version: String,
    #[prost(string, tag = "6")]
    doc_string: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    domain: String,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, optional, tag = "3")]
    i: Option<i64>,
    #[prost(message, optional, tag = "5")]
    t: Option<TensorProto>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    strings: Vec<Vec<u8>>,
    #[prost(int32, tag = "20")]
    r#type: i32,
}

#[derive(Clone, PartialEq, Message)]
struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_data: Vec<Vec<u8>>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(double, repeated, tag = "10")]
    double_data: Vec<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    r#type: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
struct TypeProto {
    #[prost(message, optional, tag = "1")]
    tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    elem_type: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(int64, optional, tag = "1")]
    value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

impl Model {
    /// Returns the predictor as an ONNX file, for runtimes that know the operators of version 19.
    ///
    /// Its inputs are the columns of the model by name, each of shape `[rows, 1]`: doubles, NaN if missing,
    /// or strings, empty if missing. Its outputs are `predicted` and, for two classes, `class` and, if the
    /// model knows it, `probability`.
    ///
    /// # Errors
    /// When a column has the name of an output, or is needed both as a number and as words: an input has one
    /// name and one type.
    pub fn to_onnx(&self) -> Result<Vec<u8>, String> {
        let mut graph = Graph::default();
        for (name, is_word) in self.inputs()? {
            graph.proto.input.push(column(&name, if is_word { STRING } else { DOUBLE }));
        }
        let mut total = graph.number(self.intercept);
        let mut attributes = Vec::new();
        for one in &self.coefficients {
            let attribute = graph.attribute(one, self.gaps_of(&one.column));
            let coefficient = graph.number(one.value);
            let product = graph.apply("Mul", &[&attribute, &coefficient]);
            total = graph.apply("Add", &[&total, &product]);
            attributes.push(attribute);
        }
        if let Some(trees) = &self.trees {
            let sum = graph.trees(trees, &attributes);
            total = graph.apply("Add", &[&total, &sum]);
        }
        // Of a model without attributes no input tells the number of rows: the prediction is one number.
        graph.rename("Identity", &[&total], "predicted");
        graph.proto.output.push(column("predicted", DOUBLE));
        if let Label::Classes { positive, negative } = &self.label {
            let threshold = graph.number(self.threshold());
            let above = graph.apply("Greater", &["predicted", &threshold]);
            let (positive, negative) = (graph.word(positive), graph.word(negative));
            graph.rename("Where", &[&above, &positive, &negative], "class");
            graph.proto.output.push(column("class", STRING));
            if let Some(link) = self.link {
                let (offset, slope) = (graph.number(link.offset), graph.number(link.slope));
                let scaled = graph.apply("Mul", &["predicted", &slope]);
                let odds = graph.apply("Add", &[&scaled, &offset]);
                graph.rename("Sigmoid", &[&odds], "probability");
                graph.proto.output.push(column("probability", DOUBLE));
            }
        }
        let file = ModelProto {
            ir_version: FORMAT,
            producer_name: "lao".into(),
            producer_version: self.lao.version.clone(),
            doc_string: format!("predicts {}", self.target),
            graph: Some(GraphProto { name: "lao".into(), ..graph.proto }),
            opset_import: std::iter::once(OperatorSet { domain: String::new(), version: OPERATORS })
                .chain(self.trees.is_some().then(|| OperatorSet { domain: TREES.into(), version: OF_TREES }))
                .collect(),
        };
        Ok(file.encode_to_vec())
    }

    /// Returns the columns, and whether they have words.
    fn inputs(&self) -> Result<Vec<(String, bool)>, String> {
        let mut inputs: Vec<(String, bool)> = Vec::new();
        for one in &self.coefficients {
            if OUTPUTS.contains(&one.column.as_str()) || one.column.starts_with("lao:") {
                let name = &one.column;
                return Err(format!("the column `{name}` has the name of another value: rename it"));
            }
            match inputs.iter().find(|(name, _)| *name == one.column) {
                Some((name, is_word)) if *is_word != one.word.is_some() => {
                    return Err(format!("the model reads `{name}` both as a number and as words"));
                }
                Some(_) => {}
                None => inputs.push((one.column.clone(), one.word.is_some())),
            }
        }
        Ok(inputs)
    }
}

/// A graph under construction. Inner values are called `lao:0`, `lao:1`, ...
#[derive(Default)]
struct Graph {
    proto: GraphProto,
    values: usize,
}

impl Graph {
    /// Returns whether a value equals any of some constants, of which there is one at least.
    fn any_equal(&mut self, value: &str, constants: Vec<String>) -> String {
        let each: Vec<String> =
            constants.iter().map(|constant| self.apply("Equal", &[value, constant])).collect();
        let mut each = each.into_iter();
        let first = each.next().unwrap_or_default();
        each.fold(first, |any, one| self.apply("Or", &[&any, &one]))
    }

    fn fresh(&mut self) -> String {
        self.values += 1;
        format!("lao:{}", self.values - 1)
    }

    fn number(&mut self, x: f64) -> String {
        let name = self.fresh();
        let tensor =
            TensorProto { data_type: DOUBLE, name: name.clone(), double_data: vec![x], ..<_>::default() };
        self.proto.initializer.push(tensor);
        name
    }

    fn word(&mut self, word: &str) -> String {
        let (name, string_data) = (self.fresh(), vec![word.as_bytes().to_vec()]);
        let tensor = TensorProto { data_type: STRING, name: name.clone(), string_data, ..<_>::default() };
        self.proto.initializer.push(tensor);
        name
    }

    /// Adds a node, and returns the name of its value.
    fn apply(&mut self, operator: &str, inputs: &[&str]) -> String {
        let name = self.fresh();
        self.rename(operator, inputs, &name);
        name
    }

    /// Adds a node whose value has the name `output`.
    fn rename(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.proto.node.push(NodeProto {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            op_type: operator.to_owned(),
            ..NodeProto::default()
        });
    }

    /// Adds a node with settings.
    fn apply_with(
        &mut self,
        domain: &str,
        operator: &str,
        inputs: &[&str],
        settings: Vec<AttributeProto>,
    ) -> String {
        let name = self.apply(operator, inputs);
        if let Some(node) = self.proto.node.last_mut() {
            (node.attribute, node.domain) = (settings, domain.to_owned());
        }
        name
    }

    /// Adds the nodes of trees whose columns are these attributes.
    fn trees(&mut self, trees: &Trees, attributes: &[String]) -> String {
        let inputs: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let row = self.apply_with("", "Concat", &inputs, vec![int("axis", 1)]);
        let [mut tree_ids, mut nodes, mut columns, mut below, mut above] = [const { Vec::<i64>::new() }; 5];
        let [mut leaf_trees, mut leaf_nodes] = [const { Vec::<i64>::new() }; 2];
        let (mut modes, mut cuts, mut leaves) = (Vec::new(), Vec::new(), Vec::new());
        for (number, tree) in (0..).zip(&trees.trees) {
            let splits = tree.column.len() as i64;
            // The leaves come after the splits.
            let place = |next: i16| if next < 0 { splits + i64::from(!next) } else { i64::from(next) };
            for at in 0..tree.column.len() {
                let column = usize::from(tree.column[at]);
                columns.push(column as i64);
                cuts.push(trees.cuts[column][usize::from(tree.cut[at])]);
                below.push(place(tree.below[at]));
                above.push(place(tree.above[at]));
                modes.push(b"BRANCH_LEQ".to_vec());
            }
            for (at, leaf) in (splits..).zip(&tree.leaf) {
                columns.push(0);
                cuts.push(0.0);
                below.push(0);
                above.push(0);
                modes.push(b"LEAF".to_vec());
                leaf_trees.push(number);
                leaf_nodes.push(at);
                leaves.push(f64::from(*leaf));
            }
            nodes.extend(0..splits + tree.leaf.len() as i64);
            tree_ids.resize(nodes.len(), number);
        }
        let settings = vec![
            int("n_targets", 1),
            ints("nodes_treeids", tree_ids),
            ints("nodes_nodeids", nodes),
            ints("nodes_featureids", columns),
            ints("nodes_truenodeids", below),
            ints("nodes_falsenodeids", above),
            doubles("nodes_values_as_tensor", cuts),
            AttributeProto { name: "nodes_modes".into(), strings: modes, r#type: STRINGS, ..<_>::default() },
            ints("target_ids", vec![0; leaves.len()]),
            ints("target_treeids", leaf_trees),
            ints("target_nodeids", leaf_nodes),
            doubles("target_weights_as_tensor", leaves),
        ];
        let sum = self.apply_with(TREES, "TreeEnsembleRegressor", &[&row], settings);
        let sum = self.apply_with("", "Cast", &[&sum], vec![int("to", i64::from(DOUBLE))]);
        let scale = self.number(trees.scale);
        self.apply("Mul", &[&sum, &scale])
    }

    /// Adds the nodes of an attribute. `gaps` are the numbers and the texts that stand for a missing value.
    fn attribute(&mut self, one: &Coefficient, gaps: (Vec<f64>, Vec<String>)) -> String {
        let mean = self.number(one.mean);
        let (missing, value) = match &one.word {
            Some(word) => {
                let gaps: Vec<String> = gaps.1.iter().map(|gap| self.word(gap)).collect();
                let word = self.word(word);
                let missing = self.any_equal(&one.column, gaps);
                let same = self.apply("Equal", &[&one.column, &word]);
                let [is, is_not] = [1.0, 0.0].map(|x| self.number(one.clamped(x)));
                (missing, self.apply("Where", &[&same, &is, &is_not]))
            }
            None => {
                let gaps: Vec<String> = gaps.0.iter().map(|gap| self.number(*gap)).collect();
                let is_nan = self.apply("IsNaN", &[&one.column]);
                let is_infinite = self.apply("IsInf", &[&one.column]);
                let mut missing = self.apply("Or", &[&is_nan, &is_infinite]);
                if !gaps.is_empty() {
                    let is_gap = self.any_equal(&one.column, gaps);
                    missing = self.apply("Or", &[&missing, &is_gap]);
                }
                let value = match one.within {
                    Some([low, high]) => {
                        let (low, high) = (self.number(low), self.number(high));
                        self.apply("Clip", &[&one.column, &low, &high])
                    }
                    None => one.column.clone(),
                };
                (missing, value)
            }
        };
        self.apply("Where", &[&missing, &mean, &value])
    }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i: Some(value), r#type: INT, ..<_>::default() }
}

fn ints(name: &str, values: Vec<i64>) -> AttributeProto {
    AttributeProto { name: name.into(), ints: values, r#type: INTS, ..<_>::default() }
}

fn doubles(name: &str, values: Vec<f64>) -> AttributeProto {
    let dims = vec![values.len() as i64];
    let tensor = TensorProto { data_type: DOUBLE, dims, double_data: values, ..<_>::default() };
    AttributeProto { name: name.into(), t: Some(tensor), r#type: TENSOR, ..<_>::default() }
}

fn column(name: &str, elem_type: i32) -> ValueInfo {
    let rows = Dimension { value: None, name: Some("rows".into()) };
    let shape = Shape { dim: vec![rows, Dimension { value: Some(1), name: None }] };
    let tensor_type = Some(TensorType { elem_type, shape: Some(shape) });
    ValueInfo { name: name.to_owned(), r#type: Some(TypeProto { tensor_type }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, Missing};
    use lao_algorithms::trees::Tree;
    use std::collections::HashMap;

    /// A value of a graph, for one row.
    #[derive(Clone, Debug, PartialEq)]
    enum Value {
        Row(Vec<f64>),
        Number(f64),
        Word(Vec<u8>),
        Truth(bool),
    }

    use Value::{Number, Row, Truth, Word};

    /// Follows each tree from its first node.
    fn of_trees(node: &NodeProto, row: &[f64]) -> f64 {
        let of = |name: &str| node.attribute.iter().find(|one| one.name == name).unwrap();
        let ints = |name: &str| &of(name).ints;
        let numbers = |name: &str| &of(name).t.as_ref().unwrap().double_data;
        let (trees, nodes) = (ints("nodes_treeids"), ints("nodes_nodeids"));
        let find = |tree: i64, node: i64| (0..).find(|&i| trees[i] == tree && nodes[i] == node).unwrap();
        let sum = (0..=*trees.last().unwrap()).map(|tree| {
            let mut at = find(tree, 0);
            while of("nodes_modes").strings[at] == b"BRANCH_LEQ" {
                let is_below =
                    row[ints("nodes_featureids")[at] as usize] <= numbers("nodes_values_as_tensor")[at];
                let next = if is_below { "nodes_truenodeids" } else { "nodes_falsenodeids" };
                at = find(tree, ints(next)[at]);
            }
            let is_own =
                |i: &usize| ints("target_treeids")[*i] == tree && ints("target_nodeids")[*i] == nodes[at];
            numbers("target_weights_as_tensor")[(0..).find(is_own).unwrap()]
        });
        sum.sum()
    }

    /// Runs the nodes in their order, as the standard defines them.
    fn run(graph: &GraphProto, inputs: &[(&str, Value)]) -> HashMap<String, Value> {
        let mut known: HashMap<String, Value> =
            inputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        for one in &graph.initializer {
            let value = match one.data_type {
                DOUBLE => Number(one.double_data[0]),
                _ => Word(one.string_data[0].clone()),
            };
            known.insert(one.name.clone(), value);
        }
        for node in &graph.node {
            let of: Vec<Value> = node.input.iter().map(|name| known[name].clone()).collect();
            let value = match (node.op_type.as_str(), &of[..]) {
                ("Identity" | "Cast", [x]) => x.clone(),
                ("Concat", values) => {
                    let number = |x: &Value| if let Number(x) = x { *x } else { panic!("{x:?}") };
                    Row(values.iter().map(number).collect())
                }
                ("TreeEnsembleRegressor", [Row(row)]) => Number(of_trees(node, row)),
                ("Add", [Number(x), Number(y)]) => Number(x + y),
                ("Mul", [Number(x), Number(y)]) => Number(x * y),
                ("IsNaN", [Number(x)]) => Truth(x.is_nan()),
                ("IsInf", [Number(x)]) => Truth(x.is_infinite()),
                ("Or", [Truth(x), Truth(y)]) => Truth(*x || *y),
                ("Equal", [Number(x), Number(y)]) => Truth(x == y),
                ("Clip", [Number(x), Number(low), Number(high)]) => Number(x.max(*low).min(*high)),
                ("Equal", [Word(x), Word(y)]) => Truth(x == y),
                ("Greater", [Number(x), Number(y)]) => Truth(x > y),
                ("Where", [Truth(which), x, y]) => (if *which { x } else { y }).clone(),
                ("Sigmoid", [Number(x)]) => Number(1.0 / (1.0 + (-x).exp())),
                other => panic!("{other:?}"),
            };
            known.insert(node.output[0].clone(), value);
        }
        known
    }

    fn pressure() -> Model {
        Model::from_json(include_str!("../tests/pressure.lao.json")).unwrap()
    }

    #[test]
    fn graphs_predict_what_the_model_predicts() {
        let link = Some(crate::Link { offset: -3.0, slope: 0.03 });
        let label = Label::Classes { positive: "high".into(), negative: "low".into() };
        let classes = Model { link, label, ..pressure() };
        let trees = Trees {
            cuts: vec![vec![45.0, 60.0], vec![0.5], vec![0.5]],
            scale: 10.0,
            shares: Vec::new(),
            parts: Vec::new(),
            trees: vec![
                Tree {
                    column: vec![0, 2],
                    cut: vec![1, 0],
                    below: vec![1, !1],
                    above: vec![!0, !2],
                    leaf: vec![0.5, -0.25, 1.5],
                },
                Tree { leaf: vec![0.125], ..Tree::default() },
            ],
        };
        let with_trees = Model { trees: Some(trees), ..pressure() };
        Model::from_json(&with_trees.to_json()).unwrap();
        let table = "age,smoker\n50,yes\n-900,no\n900,other\n,yes\n40,\n61.5,no\n";
        let frame = Frame::parse(table.as_bytes(), "t.csv", &Default::default()).unwrap();
        for model in [pressure(), classes, with_trees] {
            let file = ModelProto::decode(&model.to_onnx().unwrap()[..]).unwrap();
            let graph = file.graph.unwrap();
            let names: Vec<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
            assert_eq!(names, ["age", "smoker"]);
            let wanted = model.predict(&frame, Missing::Mean).unwrap().values;
            for (row, want) in table.lines().skip(1).zip(wanted) {
                let (age, smoker) = row.split_once(',').unwrap();
                let age = Number(age.parse().unwrap_or(f64::NAN));
                let found = run(&graph, &[("age", age), ("smoker", Word(smoker.into()))]);
                assert_eq!(found["predicted"], Number(want), "{row}");
                let class = model.class(want).map(|class| Word(class.into()));
                assert_eq!(found.get("class"), class.as_ref(), "{row}");
                if let Some(p) = model.probability(want) {
                    let Number(x) = found["probability"] else { panic!("no number") };
                    assert!((x - p).abs() < 1e-12, "{row}");
                }
            }
        }
    }

    #[test]
    fn columns_that_clash_are_refused() {
        let mut model = pressure();
        model.coefficients[0].column = "predicted".into();
        assert!(model.to_onnx().unwrap_err().contains("rename it"));
        let mut model = pressure();
        model.coefficients[0].column = "smoker".into();
        assert!(model.to_onnx().unwrap_err().contains("both as a number and as words"));
    }
}
