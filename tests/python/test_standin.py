"""What stands in for a GPU."""

import unittest

from weir import standin_torch


class Answers(unittest.TestCase):
    def test_no_function_has_two_names(self):
        for target in ("sm_90", "sm_100", "gfx942"):
            functions = [value for value in standin_torch.answers(target).values()]
            self.assertEqual(len(functions), len({id(value) for value in functions}), target)

    def test_what_is_asked_of_a_gpu(self):
        answers = standin_torch.answers("sm_100")
        self.assertEqual(answers["get_device_capability"](), (10, 0))
        self.assertEqual(answers["get_device_properties"]().multi_processor_count, 148)
        self.assertIsNone(answers["synchronize"]())
        with answers["device"](0):
            self.assertEqual(answers["current_device"](), 0)


if __name__ == "__main__":
    unittest.main()
