import ast
import copy
import pickle
from pathlib import Path

import pytest

import hssvm
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.messages import Message, api, value_error

TEXT = f"raise {api:max_time} of /a{{b}}, or set {api:refine=False}"


def test_a_message_reads_as_python():
    message = Message(TEXT)
    assert message == "raise max_time of /a{b}, or set refine=False"
    assert message.reworded(str.upper) == "raise MAX_TIME of /a{b}, or set REFINE=FALSE"
    assert {message: 1}[str(message)] == 1


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_keep_the_marks(again):
    copied = again(Message(TEXT))
    assert copied == Message(TEXT)
    assert copied.reworded(str.upper) == Message(TEXT).reworded(str.upper)


@pytest.mark.parametrize("error", [value_error, InvalidParameterError])
def test_errors_keep_the_marks(error):
    with pytest.raises(ValueError, match="raise max_time") as caught:
        raise error(TEXT)
    assert caught.value.args[0].reworded(str.upper).startswith("raise MAX_TIME")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def marked_arguments():
    """Names of functions that the library calls with a marked text."""
    for path in Path(hssvm.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                texts = [text for text in node.args if isinstance(text, ast.JoinedStr)]
                if any("{api:" in ast.unparse(text) for text in texts):
                    yield node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id


def test_marks_are_removed_from_the_text():
    """An error without `Message` would show them."""
    removing = {"Message", "value_error", "InvalidParameterError"}
    assert removing < set(marked_arguments()) <= removing | {"append"}
