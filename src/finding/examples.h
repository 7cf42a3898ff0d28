/* Examples of rule pages, at the end of a text: what is wrong, and what is right.
 *
 * CUDA kernels begin with a comment that launches them; Gluon kernels are those of a file of examples/, and wrong with
 * BROKEN. tests/rules.py checks them. */
#ifndef FINDING_EXAMPLES_H
#define FINDING_EXAMPLES_H

#define CUDA_EXAMPLE(wrong, right) \
    "\n## Example\n\nWrong:\n\n```cuda\n" wrong "```\n\nRight:\n\n```cuda\n" right "```\n"
#define GLUON_EXAMPLE(file, kernel) \
    "\n## Example\n\nWrong with `BROKEN`, right without (`" file "`):\n\n```python\n" kernel "```\n"

#endif
