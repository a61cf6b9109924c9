//! From tables as people keep them to models, and back.

use lao::observation::Seed;
use lao::{
    ColumnKind, Error, Examples, Fit, Frame, Header, Label, Missing, Model, Pick, Price, Prices, ReadOptions,
    TrainTest,
};

fn frame(text: &str) -> Frame {
    Frame::parse(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap()
}

fn refused(text: &str) -> String {
    Frame::parse(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string()
}

/// Patients: age and smoking matter, weight does not, `id` is a word of its own in each row, `site` is
/// constant. Every seventh age is missing if `gaps`.
fn patients(rows: u32, gaps: bool) -> String {
    let mut text = String::from("id,age,\"weight, kg\",smoker,site,pulse,pressure\n");
    for i in 0..rows {
        let (age, weight) = (20 + i * 7 % 61, 50 + i * 11 % 53);
        let smoker = if i * 19 % 3 == 0 { "yes" } else { "no" };
        let noise = f64::from(i * 17 % 11) - 5.0;
        let pressure = 80.0 + 0.5 * f64::from(age) + if smoker == "yes" { 9.0 } else { 0.0 } + noise;
        let age = if gaps && i % 7 == 0 { "NA".into() } else { age.to_string() };
        text += &format!("p{i},{age},{weight},{smoker},A,{},{pressure}\n", 50 + i * 13 % 41);
    }
    text
}

#[test]
fn names_words_gaps_and_constant_columns_are_understood() {
    let examples = frame(&patients(100, true)).target("pressure").unwrap();
    assert_eq!(examples.names(), ["age", "weight, kg", "smoker=yes", "pulse"]);
    assert_eq!((examples.len(), examples.label()), (100, &Label::Number));
    let notes = examples.notes().join("; ");
    assert!(notes.contains("`id` is left out") && notes.contains("`site` is left out"), "{notes}");
}

#[test]
fn separators_headers_quotes_and_marks_are_found() {
    let one = frame("\u{feff}a;b;y\n1;2,5;3\n");
    assert_eq!(one.names().collect::<Vec<_>>(), ["a", "b", "y"]);
    assert_eq!(frame("1,2\n3,4\n").names().collect::<Vec<_>>(), ["c1", "c2"]);
    assert_eq!(frame("1,2\n3,4\n").rows(), 2);
    let yes = ReadOptions { header: Header::Yes, ..ReadOptions::default() };
    assert_eq!(Frame::parse(b"1,2\n3,4\n", "t", &yes).unwrap().rows(), 1);
    assert_eq!(frame("a\tb\r\n\"x \"\"y\"\"\"\t2\r\n").rows(), 1);
}

#[test]
fn what_is_no_table_is_refused_with_line_and_remedy() {
    for (text, part) in [
        ("", "the table is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n1,2,3\n", "line 3: 3 fields, but the first line has 2"),
        ("a,b\n1,\0\n", "line 2: a byte of value 0"),
    ] {
        let error = refused(text);
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn a_label_is_named_and_never_guessed() {
    let error = frame(&patients(30, false)).target("presure").unwrap_err().to_string();
    assert!(error.contains("did you mean `pressure`?") && error.contains("weight, kg"), "{error}");
    let error = frame(&patients(60, false)).target("id").unwrap_err().to_string();
    assert!(error.contains("numbers, or two classes"), "{error}");
    let error = frame("a,y\n1,2\n2,2\n").target("y").unwrap_err().to_string();
    assert!(error.contains("at least two different values"), "{error}");
    assert!(frame("a,y\n1,2\n1,3\n1,4\n").target("y").is_err(), "there is no attribute that varies");
}

#[test]
fn a_model_finds_the_attributes_and_keeps_their_units() {
    for gaps in [false, true] {
        let fitted = Fit::within(3).run(&frame(&patients(2000, gaps)).target("pressure").unwrap()).unwrap();
        let model = &fitted.model;
        assert!(fitted.found);
        assert_eq!(model.columns(), ["age", "smoker"]);
        for (coefficient, truth) in model.coefficients.iter().zip([0.5, 9.0]) {
            let error = coefficient.standard_error.unwrap();
            assert!(
                (coefficient.value - truth).abs() < 5.0 * error && error < 0.1 * truth,
                "{coefficient:?}"
            );
        }
        assert_eq!(model.spent.most_attributes, 3);
        assert_eq!(model.spent.missing > 0, gaps);
        let holdout = model.holdout.as_ref().unwrap();
        assert!(holdout.examples == 200 && holdout.r2() > 0.8, "{holdout:?}");
        assert!(fitted.model.history.len() > 3);
    }
}

#[test]
fn every_sparse_method_can_be_asked_for_by_name() {
    let examples = frame(&patients(4000, false)).target("pressure").unwrap();
    for method in lao::algorithms::METHODS {
        let fitted = Fit::within(3).most_attributes(1).method(method.name).run(&examples);
        if method.model == lao::algorithms::ModelSize::Dense {
            assert!(fitted.unwrap_err().to_string().contains("would read all attributes"), "{}", method.name);
        } else if let Err(error) = fitted {
            // A method may need a feature of the library that is off.
            assert!(error.to_string().contains("feature"), "{}: {error}", method.name);
        }
    }
    let error = Fit::within(2).method("hibrid").run(&examples).unwrap_err().to_string();
    assert!(error.contains("did you mean `hybrid`?"), "{error}");
}

#[test]
fn a_stored_model_is_the_same_and_reads_only_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lao.json");
    let table = frame(&patients(800, false));
    let model = Fit::within(2).run(&table.clone().target("pressure").unwrap()).unwrap().model;
    model.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    assert_eq!(read, model);
    let whole = read.predict(&table, Missing::Mean).unwrap();
    // Other columns are absent, and the order is another.
    let lean: String = patients(800, false)
        .lines()
        .map(|line| line.replace("\"weight, kg\"", "w"))
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", fields[3], fields[1])
        })
        .collect();
    assert_eq!(read.predict(&frame(&lean), Missing::Refuse).unwrap().values, whole.values);
    let error = read.predict(&frame("smoker\nyes\nno\n"), Missing::Mean).unwrap_err();
    assert!(matches!(&error, Error::NoColumn { wanted, .. } if wanted == "age"), "{error}");
    let error = read.predict(&frame("age,smoker\nold,yes\n"), Missing::Mean).unwrap_err().to_string();
    assert!(error.contains("`age`") && error.contains("needs numbers"), "{error}");
}

#[test]
fn columns_can_be_left_out_and_a_field_can_stand_for_a_missing_value() {
    let text = "id;signal;wall;y\n1;100;3,5;1,5\n2;-60;100;2\n3;-61;none;3\n4;<9;4;4\n";
    let read = |columns, missing: &[&str]| {
        let missing = missing.iter().map(|&field| field.to_owned()).collect();
        Frame::parse(text.as_bytes(), "t.csv", &ReadOptions { columns, missing, ..ReadOptions::default() })
    };
    let kinds = |frame: &Frame| -> Vec<(String, usize)> {
        frame.summary().iter().map(|one| (format!("{} {:?}", one.name, one.kind), one.missing)).collect()
    };
    let without = Pick::Without(vec!["id".into()]);
    let frame = read(without, &["signal=100", "none", "<9"]).unwrap();
    let numbers = |low: f64, high: f64, mean: f64| format!("{:?}", ColumnKind::Numbers { low, high, mean });
    let expected = [
        (format!("signal {}", numbers(-61.0, -60.0, -60.5)), 2),
        (format!("wall {}", numbers(3.5, 100.0, 35.833333333333336)), 1),
        (format!("y {}", numbers(1.5, 4.0, 2.625)), 0),
    ];
    assert_eq!(kinds(&frame), expected);
    // With a quote, another reader reads the same.
    let quoted = text.replace("id", "\"id\"").replace("3,5", "\"3,5\"");
    let options = ReadOptions {
        columns: Pick::Only(vec!["y".into(), "wall".into(), "absent".into()]),
        missing: vec!["wall=none".into()],
        ..ReadOptions::default()
    };
    for text in [text, &quoted] {
        let frame = Frame::parse(text.as_bytes(), "t.csv", &options).unwrap();
        assert_eq!(kinds(&frame), expected[1..], "{text}");
    }
    let error = read(Pick::Without(vec!["ids".into()]), &[]).unwrap_err().to_string();
    assert!(error.contains("no column `ids` (did you mean `id`?)"), "{error}");
    let error = read(Pick::All, &["sinal=100"]).unwrap_err().to_string();
    assert!(error.contains("no column `sinal` (did you mean `signal`?)"), "{error}");
}

#[test]
fn a_model_repeats_how_its_table_was_read() {
    let options = ReadOptions {
        columns: Pick::Without(vec!["id".into()]),
        missing: vec!["pulse=54".into(), "weight, kg=60".into()],
        ..ReadOptions::default()
    };
    let text = patients(1500, false);
    let table = Frame::parse(text.as_bytes(), "t.csv", &options).unwrap();
    let fit = Fit::within(4).most_attributes(3).always(["pulse"]).level(0.01);
    let model = fit.run(&table.clone().target("pressure").unwrap()).unwrap().model;
    assert!(model.columns().contains(&"pulse"), "{model}");
    assert_eq!(model.origin.reading.without, ["id"]);
    let again = Fit::again(&model).unwrap().run(&table.clone().target("pressure").unwrap()).unwrap().model;
    assert_eq!(again, model);
    // At prediction only the model's columns are read, and the same fields are missing.
    let lean = Frame::parse(text.as_bytes(), "t.csv", &model.read_options()).unwrap();
    assert_eq!(lean.names().collect::<Vec<_>>(), ["age", "smoker", "pulse"]);
    let (lean, whole) =
        (model.predict(&lean, Missing::Refuse).unwrap(), model.predict(&table, Missing::Refuse).unwrap());
    assert!(lean.incomplete > 0 && lean.incomplete == whole.incomplete);
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&lean.values), bits(&whole.values));
    let error = model.predict(&frame("age\n1\n2\n"), Missing::Mean).unwrap_err().to_string();
    assert_eq!(error, "columns `smoker`, `pulse`: the model needs them, and t.csv lacks them");
    for fit in [Fit::within(3).always(["pulze"]), Fit::within(3).method("hybrid").level(0.1)] {
        let error = fit.run(&table.clone().target("pressure").unwrap()).unwrap_err().to_string();
        let known = error.contains("did you mean `pulse`?") || error.contains("only the method `pursuit`");
        assert!(known, "{error}");
    }
}

#[test]
fn the_positive_class_is_the_later_word_or_the_one_that_is_named() {
    let table = frame(&patients(3000, false).replace("yes", "sick").replace("no", "healthy"));
    let learned = |examples: Examples| Fit::within(3).run(&examples).unwrap().model;
    let later = learned(table.clone().target("smoker").unwrap());
    let named = learned(table.clone().target_class("smoker", "healthy").unwrap());
    let Label::Classes { positive, negative } = &named.label else { panic!("{named}") };
    assert_eq!((&positive[..], &negative[..]), ("healthy", "sick"));
    assert_eq!(later.columns(), named.columns());
    for (one, other) in later.coefficients.iter().zip(&named.coefficients) {
        assert!((one.value + other.value).abs() < 1e-9 * one.value.abs(), "{one:?} {other:?}");
    }
    let p = named.probability(0.3).unwrap() + later.probability(-0.3).unwrap();
    assert!((p - 1.0).abs() < 1e-6, "{p}");
    let error = table.clone().target_class("smoker", "ill").unwrap_err().to_string();
    assert!(error.contains("the classes are `healthy` (2000 rows), `sick` (1000 rows)"), "{error}");
    let error = table.target_class("age", "30").unwrap_err().to_string();
    assert!(error.contains("it has numbers, too many to be classes"), "{error}");
}

#[test]
fn a_column_of_free_text_is_named_with_its_first_word() {
    let mut text = String::from("glucose,age,y\n");
    for i in 0..200 {
        let glucose = format!("{}{i}", if i % 2 == 0 { "<" } else { "c" });
        text += &format!("{glucose},{},{}\n", i * 7 % 50, i * 11 % 13);
    }
    let examples = frame(&text).target("y").unwrap();
    let note = "`glucose` is left out: it has too many different words, such as `<0` in line 2";
    assert_eq!(examples.notes(), [note]);
    let error = frame(&text).target("glucose").unwrap_err().to_string();
    assert!(error.contains("such as `<0` in line 2; a label has numbers"), "{error}");
}

#[test]
fn a_model_file_has_lists_on_one_line_and_the_rights_of_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lao.json");
    // A table of many columns with prices: its model has a tariff of as many numbers.
    let names: Vec<String> = (0..2000).map(|j| format!("c{j}")).collect();
    let mut text = names.join(",") + ",y\n";
    for i in 0..60u32 {
        let row: Vec<String> = (0..2000u32).map(|j| (i * (j + 7) * 31 % 101).to_string()).collect();
        text += &format!("{},{}\n", row.join(","), i % 9);
    }
    let prices = names.iter().map(|name| Price::of(name, 2.0)).collect();
    let examples = frame(&text).target("y").unwrap();
    let model = Fit::within_money(10.0, Prices::new(prices).unwrap()).run(&examples).unwrap().model;
    std::fs::write(&path, "{}").unwrap();
    model.save(&path).unwrap();
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(Model::from_json(&stored).unwrap(), model);
    assert!(stored.lines().any(|line| line.trim_start().starts_with("\"prices\": [2.0, 2.0, 2.0,")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("link.json");
        symlink(&path, &link).unwrap();
        model.save(&link).unwrap();
        assert!(link.is_symlink() && mode(&path) == 0o640);
        let (fresh, plain) = (folder.path().join("fresh.json"), folder.path().join("plain"));
        model.save(&fresh).unwrap();
        std::fs::write(&plain, "").unwrap();
        assert_eq!(mode(&fresh), mode(&plain));
    }
}

#[test]
fn missing_values_have_the_mean_or_no_prediction() {
    let model = Fit::within(3).run(&frame(&patients(800, false)).target("pressure").unwrap()).unwrap().model;
    let rows = frame("age,smoker\n,yes\n50,no\n");
    let filled = model.predict(&rows, Missing::Mean).unwrap();
    let refused = model.predict(&rows, Missing::Refuse).unwrap();
    assert_eq!((filled.incomplete, refused.incomplete), (1, 1));
    assert!(filled.values[0].is_finite() && refused.values[0].is_nan());
    assert_eq!(filled.values[1], refused.values[1]);
}

#[test]
fn two_words_are_two_classes_with_probabilities() {
    let mut text = String::from("a,b,c,ill\n");
    for i in 0..3000u32 {
        let (a, b, c) = (i * 7 % 101, i * 11 % 103, i * 13 % 107);
        let ill = f64::from(a) + f64::from(i * 17 % 31) > 65.0;
        text += &format!("{a},{b},{c},{}\n", if ill { "yes" } else { "no" });
    }
    let fitted = Fit::within(2).run(&frame(&text).target("ill").unwrap()).unwrap();
    let model = fitted.model;
    assert_eq!(model.label, Label::Classes { positive: "yes".into(), negative: "no".into() });
    assert_eq!(model.columns(), ["a"]);
    let holdout = model.holdout.as_ref().unwrap();
    assert!(holdout.accuracy.unwrap() > 0.85 && holdout.log_loss.unwrap() < 0.4, "{holdout:?}");
    let predicted = model.predict(&frame("a\n0\n100\n"), Missing::Mean).unwrap().values;
    assert_eq!(predicted.iter().map(|p| model.class(*p).unwrap()).collect::<Vec<_>>(), ["no", "yes"]);
    let probabilities: Vec<f64> = predicted.iter().map(|p| model.probability(*p).unwrap()).collect();
    assert!(probabilities[0] < 0.2 && probabilities[1] > 0.8, "{probabilities:?}");
}

#[test]
fn nothing_to_find_is_said() {
    let mut text = String::from("a,b,y\n");
    (0..500u32).for_each(|i| text += &format!("{},{},{}\n", i * 7 % 101, i * 11 % 103, i * 7919 % 509));
    let fitted = Fit::within(1).run(&frame(&text).target("y").unwrap()).unwrap();
    assert!(!fitted.found && fitted.model.coefficients.is_empty());
}

#[test]
fn the_same_seed_gives_the_same_model_and_splits_cover_all() {
    let examples = frame(&patients(500, true)).target("pressure").unwrap();
    let once = || Fit::within(2).seed(3).run(&examples).unwrap().model;
    assert_eq!(once(), once());
    let TrainTest { train: one, test: two } = examples.split(0.3, &Seed::root(1)).unwrap();
    assert_eq!((one.len(), two.len()), (350, 150));
    assert!(examples.split(0.0, &Seed::root(1)).is_err() && examples.split(1.0, &Seed::root(1)).is_err());
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let examples = frame(&patients(100, false)).target("pressure").unwrap();
    for fit in [
        Fit::within(0),
        Fit::within(2).holdout(1.0),
        Fit::within(2).holdout(f64::NAN),
        Fit::within(2).passes(0),
    ] {
        assert!(matches!(fit.run(&examples), Err(Error::Choice { .. })), "{fit:?}");
    }
    // More than there is, few examples, no holdout.
    assert!(Fit::within(99).run(&examples).is_ok());
    let few = frame(&patients(3, false)).target("pressure").unwrap();
    assert!(
        Fit::within(1).holdout(0.0).run(&few).is_ok_and(|fitted| !fitted.found && !fitted.notes.is_empty())
    );
}

#[test]
fn a_model_file_that_was_changed_is_refused() {
    let model = Fit::within(3).run(&frame(&patients(800, false)).target("pressure").unwrap()).unwrap().model;
    let text = model.to_json();
    assert_eq!(Model::from_json(&text).unwrap(), model);
    for (from, to, part) in [
        ("\"format\": 1", "\"format\": 2", "reads format 1"),
        ("\"age\"", "\"smoker\"", ""),
        ("\"intercept\"", "\"interception\"", "interception"),
        ("\"standard_error\": 0", "\"standard_error\": -0", "negative"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        if let Err(error) = Model::from_json(&changed) {
            assert!(error.contains(part), "{error}");
        } else {
            assert!(part.is_empty(), "{from} -> {to} is read");
        }
    }
    assert!(Model::from_json(&text[..text.len() / 2]).is_err() && Model::from_json("").is_err());
    let mut other = model.clone();
    other.coefficients[0].interval = Some([2.0, 1.0]);
    let error = Model::from_json(&other.to_json()).unwrap_err();
    assert!(error.contains("an interval of the coefficient of `age` is empty"), "{error}");
}

/// Prices of the patients' columns: of one blood sample, `age` and `pulse` are measured.
const PRICES: &str =
    "attribute,price,panel\n age , 5, blood\npulse,5,blood\n\"weight, kg\",1\nsmoker,0\nid,9\n";

#[test]
fn prices_that_are_none_are_refused_with_line_and_remedy() {
    let examples = frame(&patients(100, false)).target("pressure").unwrap();
    for (text, part) in [
        ("", "prices.csv, line 1: it has no prices"),
        ("age,1\nage,2\n", "line 2: `age` has a price in line 1 already"),
        ("attribute,price\nage,-1\n", "line 2: the price of `age` is `-1`: write a number of at least 0"),
        ("age,5 EUR\n", "line 1: the price of `age` is `5 EUR`"),
        ("age,NaN\n", "`NaN`"),
        ("age\n", "line 1: write `attribute,price`"),
        ("age,1,a,1,b\n", "line 1: write `attribute,price`"),
        ("age,1,a,b\n", "line 1: the price of `age` beside others of its panel is `b`: write a number"),
        ("age,5,blood,6\n", "line 1: `age` costs 6 beside others of its panel, and 5 alone"),
        ("age,5,,3\n", "line 1: `age` costs 3 beside others of its panel, and 5 alone; give a panel"),
        (
            "age,5,blood,3\npulse,6,blood,3\n",
            "line 2: in the panel `blood` the first column costs 2 more than another one at `age`, and 3 at",
        ),
        ("age,5,blood,3\npulse,5,blood\n", "line 2: in the panel `blood` the first column costs 2 more"),
        ("age,5,blood\n\npulse,6,blood\n", "line 3: the panel `blood` costs 6 here and 5 in line 1"),
        ("age,5,blood\r\n\r\npulse,6,blood\r\n", "line 3: the panel `blood` costs 6 here and 5 in line 1"),
        ("agee,1\n", "line 1: there is no attribute `agee` (did you mean `age`?)"),
        ("age,1\npulse,1\nsmoker,0\n", "column `weight, kg`: prices.csv has no price of it; add a line"),
    ] {
        let fitted = Prices::parse(text, "prices.csv")
            .and_then(|prices| Fit::within_money(3.0, prices).run(&examples));
        let error = fitted.unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
    let one = |column: &str, price, panel: Option<&str>| Price {
        column: column.into(),
        price,
        panel: panel.map(Into::into),
        further: None,
    };
    for (list, part) in [
        (vec![], "prices = none: give a price for each column"),
        (vec![one("age", f64::NAN, None)], "column `age`: its price is NaN; give a finite number"),
        (vec![one("age", 1.0, None), one("age", 1.0, None)], "column `age`: it has two prices"),
        (
            vec![one("age", 5.0, Some("blood")), one("pulse", 6.0, Some("blood"))],
            "column `pulse`: its panel `blood` costs 6 here and 5 at `age`",
        ),
        (
            vec![one("agee", 1.0, None)],
            "column `agee`: it has the price 1, but is no attribute (did you mean",
        ),
        (vec![one("age", 1.0, None)], "column `weight, kg`: it has no price; add one, or 0 if it is free"),
    ] {
        let fitted = Prices::new(list).and_then(|prices| Fit::within_money(3.0, prices).run(&examples));
        let error = fitted.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let prices = || Prices::parse(PRICES, "prices.csv").unwrap();
    for (fit, part) in [
        (Fit::within_money(f64::NAN, prices()), "per_example = NaN"),
        (Fit::within_money(-1.0, prices()), "at least 0, the lowest price"),
        (Fit::within_money(9.0, prices()).predict_within(-2.0), "per_prediction = -2"),
        (Fit::within_money(9.0, prices()).method("rda2"), "choose one that takes money, such as pursuit"),
        (Fit::within_money(9.0, prices()).method("naive"), "choose one that takes money, such as pursuit"),
        (Fit::within_money(f64::NAN, prices()).method("hybrid"), "per_example = NaN"),
        (
            Fit::within_money(5.5, prices()).method("hybrid"),
            "one that can be paid, and none can, since 2 attributes may cost 6",
        ),
        (
            Fit::within_money(9.0, prices()).predict_within(5.5).most_attributes(2).method("exploration"),
            "at most 1, since 2 attributes may cost 6, but a prediction only 5.5",
        ),
        (Fit::within(2).predict_within(2.0), "it needs prices"),
    ] {
        let error = fit.run(&examples).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn methods_that_explore_in_blocks_keep_to_the_money() {
    let examples = frame(&patients(4000, true)).target("pressure").unwrap();
    let prices = || Prices::parse(PRICES, "prices.csv").unwrap();
    for method in ["exploration", "hybrid"] {
        let fit = Fit::within_money(6.0, prices()).method(method);
        let fitted = fit.run(&examples).unwrap();
        let model = &fitted.model;
        let money = model.spent.money.as_ref().unwrap();
        assert!(fitted.found && money.most <= 6.0 && money.budget == 6.0, "{method}: {money:?}");
        assert!(model.columns().contains(&"age") && model.cost().is_some_and(|cost| cost <= 6.0), "{model}");
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), *model);
        // A learner resumes with its own money.
        assert!(Fit::within(1).resume(fitted.learned, &examples, |_| {}).is_ok());
    }
}

#[test]
fn a_model_keeps_what_was_spent_on_each_panel() {
    let examples = frame(&patients(2000, true)).target("pressure").unwrap();
    let prices = Prices::parse(PRICES, "prices.csv").unwrap();
    let model = Fit::within_money(6.0, prices).run(&examples).unwrap().model;
    assert_eq!((model.columns(), model.cost()), (vec!["age", "smoker"], Some(5.0)));
    let money = model.spent.money.as_ref().unwrap();
    assert!(money.most <= 6.0 && money.budget == 6.0);
    let total: f64 = money.panels.iter().map(lao::PanelSpent::cost).sum();
    assert_eq!((money.total, &money.panels[0].columns[..]), (total, &["age".to_owned(), "pulse".into()][..]));
    let free = money.panels.iter().find(|panel| panel.name == "smoker").unwrap();
    assert_eq!((free.cost(), free.examples), (0.0, model.spent.examples));
    assert!(model.to_string().contains("a prediction costs 5"), "{model}");
    assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);

    let prices = Prices::parse(PRICES, "prices.csv").unwrap();
    let fitted = Fit::within_money(6.0, prices).predict_within(1.0).run(&examples).unwrap();
    assert_eq!(fitted.model.columns(), ["smoker"]);
    assert!(fitted.notes.join("; ").contains("never bought, since a prediction may cost 1: blood"));
    // The prices of what was never bought are kept, so that the model can be learned again.
    let again = Fit::again(&fitted.model).unwrap().run(&examples).unwrap().model;
    assert_eq!(again, fitted.model);
}

#[test]
fn prices_of_1_give_the_model_of_a_number_of_attributes() {
    let examples = frame(&patients(1500, false)).target("pressure").unwrap();
    let prices = "age,1\n\"weight, kg\",1\nsmoker,1\npulse,1\n";
    let counted = Fit::within(3).run(&examples).unwrap();
    let priced = Fit::within_money(3.0, Prices::parse(prices, "p").unwrap()).run(&examples).unwrap();
    assert_eq!(counted.model.coefficients, priced.model.coefficients);
    assert_eq!(counted.model.intercept.to_bits(), priced.model.intercept.to_bits());
    let errors = |m: &Model| m.history.iter().map(|at| at.mean_squared_error.to_bits()).collect::<Vec<_>>();
    assert_eq!(errors(&counted.model), errors(&priced.model));
    let hybrid = |fit: Fit| fit.method("hybrid").run(&examples).unwrap().model;
    let (counted, twice) = (hybrid(Fit::within(3)), prices.replace(",1", ",2"));
    let priced = hybrid(Fit::within_money(6.0, Prices::parse(&twice, "p").unwrap()));
    assert_eq!(counted.coefficients, priced.coefficients);
    assert_eq!(priced.spent.money.unwrap().total, 2.0 * priced.spent.attributes as f64);
}

#[test]
fn in_order_the_last_rows_are_held_out() {
    // The effect of `a` changes after 900 rows; in a random order the error would be a mixture.
    let mut text = String::from("a,b,y\n");
    for i in 0..1000u32 {
        let (a, b) = (i * 37 % 101, i * 53 % 97);
        let effect = if i < 900 { 1.0 } else { -1.0 };
        text += &format!("{a},{b},{}\n", effect * f64::from(a) + f64::from(i * 19 % 23) / 23.0);
    }
    let examples = frame(&text).target("y").unwrap();
    let TrainTest { train: first, test: last } = examples.split_in_order(0.1).unwrap();
    assert_eq!((first.len(), last.labels().unwrap()[0]), (900, examples.labels().unwrap()[900]));
    let fit = Fit::within(2).in_order();
    let model = fit.run(&examples).unwrap().model;
    let known = fit.clone().holdout(0.0).run(&first).unwrap().model;
    assert_eq!(model.coefficients, known.coefficients, "learned from the first 900 rows alone");
    assert!((model.coefficients[0].value - 1.0).abs() < 0.01, "{model}");
    let held = model.holdout.as_ref().unwrap();
    assert!(held.examples == 100 && held.r2() < 0.0, "{held:?}");
    assert!(model.choices().iter().any(|choice| choice.name == "in-order"));
    assert_eq!(Fit::again(&model).unwrap().run(&examples).unwrap().model, model);
    assert!(Fit::within(2).run(&examples).unwrap().model.holdout.unwrap().r2() > 0.0, "a mixture");
}

#[test]
fn a_column_of_words_is_bought_once_whatever_its_words() {
    let mut text = String::from("color,a,b,c,y\n");
    for i in 0..3000u32 {
        let color = ["red", "green", "blue", "gray", "pink"][(i * 7 % 5) as usize];
        let effect = if color == "red" || color == "pink" { 3.0 } else { 0.0 };
        let [a, b, c] = [11, 13, 17].map(|k| i * k % 101);
        text += &format!(
            "{color},{a},{b},{c},{}\n",
            effect + 0.01 * f64::from(a) + f64::from(i * 19 % 23) / 23.0
        );
    }
    let examples = frame(&text).target("y").unwrap();
    assert_eq!((examples.columns(), examples.names().len()), (4, 8));
    let model = Fit::within(3).run(&examples).unwrap().model;
    let spent = &model.spent;
    assert_eq!((spent.most_attributes, spent.attributes), (3, 3 * spent.examples), "a column is one value");
    assert!(model.columns().contains(&"color") && model.columns().contains(&"a"), "{model}");
    for method in ["exploration", "hybrid"] {
        let Model { spent, .. } = Fit::within(3).method(method).run(&examples).unwrap().model;
        assert_eq!(spent.most_attributes, 3, "{method}: a column is one value");
        assert!(spent.attributes <= 3 * spent.examples, "{method}");
    }
    let prices = Prices::parse("color,4\na,1\nb,1\nc,1\n", "p").unwrap();
    let money = Fit::within_money(6.0, prices).run(&examples).unwrap().model.spent.money.unwrap();
    assert_eq!((money.most, &money.panels[0].name[..], money.panels[0].columns.len()), (6.0, "color", 1));
}

#[test]
fn the_first_test_of_a_sample_costs_more_than_a_further_one() {
    let examples = frame(&patients(2000, false)).target("pressure").unwrap();
    let text =
        "attribute,price,panel,further\nage,5,blood,1\npulse,6,blood,2\n\"weight, kg\",1\nsmoker,0\nid,9\n";
    let fit = |budget| Fit::within_money(budget, Prices::parse(text, "prices.csv").unwrap());
    let model = fit(8.0).run(&examples).unwrap().model;
    let money = model.spent.money.as_ref().unwrap();
    let bought = |name: &str| {
        let panel = money.panels.iter().find(|panel| panel.name == name).unwrap();
        (panel.price, panel.examples, panel.columns.len(), panel.is_fee)
    };
    let ((one, of_one, ..), (two, of_two, ..)) = (bought("age"), bought("pulse"));
    let (fee, of_fee, columns, is_fee) = bought("blood");
    assert_eq!((one, two, fee, columns, is_fee), (1.0, 2.0, 4.0, 2, true));
    // One sample for both, and one for either.
    assert!(of_fee >= of_one.max(of_two) && of_fee <= of_one + of_two && of_one > 0 && of_two > 0);
    assert!(money.most <= 8.0 && money.most >= 7.0, "both, and what is free or cheap: {}", money.most);
    let reads: Vec<&str> = model.columns();
    let price = |name: &str| match name {
        "age" => 1.0,
        "pulse" => 2.0,
        "id" => 9.0,
        "weight, kg" => 1.0,
        _ => 0.0,
    };
    let cost: f64 = reads.iter().map(|name| price(name)).sum();
    let of_sample = if reads.iter().any(|name| ["age", "pulse"].contains(name)) { 4.0 } else { 0.0 };
    assert_eq!(model.cost(), Some(cost + of_sample), "{reads:?}");
    // A model file has the prices of its fit.
    let again = Fit::again(&model).unwrap().run(&examples).unwrap().model;
    assert_eq!(again.to_json(), model.to_json());
}
