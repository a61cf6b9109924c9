"""Pipelines as ONNX files, by skl2onnx: `register` makes that package convert the budgeted estimators.

>>> import lao_learn.onnx  # doctest: +SKIP
>>> lao_learn.onnx.register()  # doctest: +SKIP
>>> skl2onnx.to_onnx(make_pipeline(StandardScaler(), BudgetedRegressor()).fit(X, y), X[:1])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from skl2onnx import update_registered_converter
from skl2onnx.common.shape_calculator import (
    calculate_linear_classifier_output_shapes,
    calculate_linear_regressor_output_shapes,
)

from lao_learn._budgeted import BudgetedClassifier, BudgetedRegressor
from lao_learn._cv import BudgetedClassifierCV, BudgetedRegressorCV

# The operators that a model file of ONNX uses exist since these versions.
_VERSIONS = {"": 19, "ai.onnx.ml": 3}


def register() -> None:
    """Make skl2onnx convert the budgeted estimators, from this call on."""
    for estimator in (BudgetedRegressor, BudgetedRegressorCV):
        update_registered_converter(
            estimator, f"Lao{estimator.__name__}", calculate_linear_regressor_output_shapes, _regressor
        )
    for estimator in (BudgetedClassifier, BudgetedClassifierCV):
        update_registered_converter(
            estimator,
            f"Lao{estimator.__name__}",
            calculate_linear_classifier_output_shapes,
            _classifier,
            options={"zipmap": [True, False, "columns"], "nocl": [True, False]},
        )


def _regressor(scope: Any, operator: Any, container: Any) -> None:
    outputs = _model(scope, operator, container)
    _cast(scope, container, outputs["predicted"], operator.outputs[0])


def _classifier(scope: Any, operator: Any, container: Any) -> None:
    estimator = operator.raw_operator
    outputs = _model(scope, operator, container)
    if "probability" not in outputs:
        name = type(estimator).__name__
        raise RuntimeError(f"{name}: this model has no probabilities, which skl2onnx needs")
    add = _adder(scope, container)
    name = estimator.classes_[1]
    positive = str(name) if str(name) != str(estimator.classes_[0]) else "+1"
    wanted = _constant(scope, container, onnx.TensorProto.STRING, [positive])
    is_second = add("Equal", [outputs["class"], wanted])
    is_number = estimator.classes_.dtype.kind in "iub"
    kind, write = (onnx.TensorProto.INT64, int) if is_number else (onnx.TensorProto.STRING, str)
    first, second = (_constant(scope, container, kind, [write(one)]) for one in estimator.classes_)
    flat = _constant(scope, container, onnx.TensorProto.INT64, [-1])
    labels = add("Where", [is_second, second, first])
    container.add_node("Reshape", [labels, flat], operator.outputs[0].full_name, op_version=19)
    one = _constant(scope, container, onnx.TensorProto.DOUBLE, [1.0])
    complement = add("Sub", [one, outputs["probability"]])
    both = add("Concat", [complement, outputs["probability"]], axis=1)
    _cast(scope, container, both, operator.outputs[1])


def _adder(scope: Any, container: Any) -> Any:
    """Returns the function that adds a node with one output, and returns the name of this."""

    def add(kind: str, inputs: list[str], **attributes: Any) -> str:
        output: str = scope.get_unique_variable_name("lao")
        container.add_node(kind, inputs, output, op_version=19, **attributes)
        return output

    return add


def _constant(scope: Any, container: Any, kind: int, values: list[Any]) -> str:
    name: str = scope.get_unique_variable_name("lao")
    container.add_initializer(name, kind, [len(values)], values)
    return name


def _cast(scope: Any, container: Any, name: str, output: Any) -> None:
    """Gives an output of a model the type of skl2onnx, which is that of the input."""
    double = type(output.type).__name__ == "DoubleTensorType"
    to = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    container.add_node("Cast", name, output.full_name, to=to, op_version=19)


def _model(scope: Any, operator: Any, container: Any) -> dict[str, str]:
    """Adds the graph of a model, whose inputs are columns of X, and returns the names of its outputs."""
    stored = operator.raw_operator._core_model
    graph = onnx.load_model_from_string(stored.onnx()).graph
    add = _adder(scope, container)
    table = add("Cast", [operator.inputs[0].full_name], to=onnx.TensorProto.DOUBLE)
    places = dict(zip(stored.columns, stored.places))
    names = {
        column.name: add(
            "Gather",
            [table, _constant(scope, container, onnx.TensorProto.INT64, [places[column.name]])],
            axis=1,
        )
        for column in graph.input
    }
    for tensor in graph.initializer:
        names[tensor.name] = scope.get_unique_variable_name("lao")
        if tensor.data_type == onnx.TensorProto.STRING:
            values = [bytes(one) for one in tensor.string_data]
        else:
            values = np.atleast_1d(onnx.numpy_helper.to_array(tensor)).ravel().tolist()
        container.add_initializer(names[tensor.name], tensor.data_type, list(tensor.dims), values)
    for node in graph.node:
        for output in node.output:
            names[output] = scope.get_unique_variable_name("lao")
        container.add_node(
            node.op_type,
            [names[one] for one in node.input],
            [names[one] for one in node.output],
            op_domain=node.domain,
            op_version=_VERSIONS[node.domain],
            **{one.name: onnx.helper.get_attribute_value(one) for one in node.attribute},
        )
    outputs = {output.name: names[output.name] for output in graph.output}
    if not graph.input:
        # A model without columns is a number, which is that of each row.
        rows = add("Shape", [table], start=0, end=1)
        shape = add("Concat", [rows, _constant(scope, container, onnx.TensorProto.INT64, [1])], axis=0)
        outputs = {name: add("Expand", [output, shape]) for name, output in outputs.items()}
    return outputs
