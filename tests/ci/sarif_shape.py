"""What SARIF of Weir's may look like: strictly, key by key.

The schema of the standard allows far more than Weir writes, and code scanning takes less than it allows. This has both:
every object may have just the keys named here, those without '?' have to be there, and what the standard and GitHub's
documentation say in words (indices, levels, URIs, limits) is checked, too.
"""

import re

MOST_RESULTS = 25000
MOST_DESCRIPTION = 1024
MOST_STEPS = 1000
LEVELS = {"none", "note", "warning", "error"}
FINGERPRINT = re.compile(r"[0-9a-f]{16}\Z")
URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+\Z")


class Wrong(Exception):
    pass


def expect(truth, message):
    if not truth:
        raise Wrong(message)


def text(value, where):
    expect(isinstance(value, str), f"{where} is no text")
    expect(value, f"{where} is empty")


def number(value, where):
    expect(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{where} is no number")


def truth(value, where):
    expect(isinstance(value, bool), f"{where} is neither true nor false")


def any_text(value, where):
    expect(isinstance(value, str), f"{where} is no text")


def one_of(*words):
    def check(value, where):
        expect(value in words, f"{where} is {value!r}")

    return check


def many(check, least=0):
    def each(value, where):
        expect(isinstance(value, list), f"{where} is no list")
        expect(len(value) >= least, f"{where} has {len(value)} elements")
        for index, element in enumerate(value):
            check(element, f"{where}[{index}]")

    return each


def shape(**keys):
    def check(value, where):
        expect(isinstance(value, dict), f"{where} is no object")
        plain = {key.rstrip("?"): (kind, key.endswith("?")) for key, kind in keys.items()}
        for key in value:
            expect(key in plain, f"{where} has a key {key!r}")
        for key, (kind, optional) in plain.items():
            if key in value:
                kind(value[key], f"{where}.{key}")
            else:
                expect(optional, f"{where} has no {key}")

    return check


def described(value, where):
    shape(text=text)(value, where)
    expect(len(value["text"]) <= MOST_DESCRIPTION, f"{where} is {len(value['text'])} characters long")


message = shape(text=text)


def artifact(value, where):
    shape(**{"uri": text, "uriBaseId?": text})(value, where)
    uri = value["uri"]
    if "uriBaseId" in value:
        expect(value["uriBaseId"] == "SRCROOT", f"{where} has the base {value['uriBaseId']}")
        expect(URI.match(uri) and not uri.startswith("/"), f"{where} is {uri!r}, which is not relative")
    else:
        expect(uri.startswith("file:///") and URI.match(uri[len("file://"):]), f"{where} is {uri!r}")


def region(value, where):
    shape(startLine=number, startColumn=number)(value, where)
    expect(value["startLine"] >= 1 and value["startColumn"] >= 1, f"{where} starts before 1")


physical = shape(artifactLocation=artifact, region=region)
logical = shape(name=any_text, kind=one_of("function"))
location = shape(**{"physicalLocation": physical, "logicalLocations?": many(logical, 1)})
related = shape(id=number, physicalLocation=physical, message=message)

step = shape(location=shape(physicalLocation=physical, message=message), executionOrder=number)
thread = shape(id=text, locations=many(step, 1))


def flow(value, where):
    """Every step is in one thread, and the order of all of them has no gaps; that of the last step is the first thread."""
    shape(threadFlows=many(thread, 1))(value, where)
    orders = [[each["executionOrder"] for each in one["locations"]] for one in value["threadFlows"]]
    expect(all(order == sorted(order) for order in orders), f"{where} has a thread that goes backward")
    every = sorted(sum(orders, []))
    expect(every == list(range(1, len(every) + 1)), f"{where} has the steps {every}")
    expect(orders[0][-1] == len(every), f"{where} does not begin with the thread of the last step")
    names = [one["id"] for one in value["threadFlows"]]
    expect(len(set(names)) == len(names), f"{where} has a thread twice")
    expect(len(every) <= MOST_STEPS, f"{where} has {len(every)} steps")


def fingerprints(value, where):
    expect(list(value) == ["primaryLocationLineHash", "weir/v1"], f"{where} has {list(value)}")
    expect(FINGERPRINT.match(value["weir/v1"]), f"{where} is {value['weir/v1']!r}")
    expect(value["primaryLocationLineHash"] == value["weir/v1"] + ":1", f"{where} is {value['primaryLocationLineHash']!r}")


suppression = shape(**{"kind": one_of("inSource", "external"), "justification?": text, "status?": one_of("accepted")})

result = shape(
    **{
        "ruleId": text,
        "ruleIndex": number,
        "kind?": one_of("open"),
        "level": one_of(*LEVELS),
        "message": message,
        "locations": many(location, 1),
        "relatedLocations?": many(related),
        "codeFlows?": many(flow, 1),
        "partialFingerprints": fingerprints,
        "suppressions": many(suppression),
        "properties?": shape(
            **{
                "kernel": any_text,
                "ir": text,
                "space": any_text,
                "times": number,
                "atOtherLaunches": truth,
                "witness?": text,
            }
        ),
    }
)

rule = shape(
    **{
        "id": text,
        "shortDescription": described,
        "fullDescription": described,
        "help": shape(text=text, markdown=text),
        "defaultConfiguration": shape(level=one_of("error", "warning", "note")),
        "properties": shape(
            **{"tags": many(text, 1), "problem.severity": one_of("error", "warning", "recommendation")}
        ),
    }
)

notification = shape(
    **{
        "descriptor": shape(id=text),
        "level": one_of("warning", "error"),
        "message": message,
        "locations?": many(location, 1),
    }
)

scopes = shape(**{"every-launch": number, "given-launch": number, "tried-launches": number})
kernels = shape(clean=number, findings=number, incomplete=number, error=number)

run = shape(
    **{
        "tool": shape(
            driver=shape(
                name=one_of("Weir"),
                version=text,
                semanticVersion=text,
                rules=many(rule, 1),
                notifications=many(shape(id=text, shortDescription=described), 1),
            )
        ),
        "columnKind": one_of("unicodeCodePoints"),
        "originalUriBaseIds": shape(SRCROOT=shape(**{"uri?": text, "description?": described})),
        "results": many(result),
        "invocations": many(
            shape(
                executionSuccessful=truth,
                exitCode=number,
                exitCodeDescription=one_of("clean", "clean (every launch)", "clean (this launch)", "clean (tried launches)",
                                           "findings", "incomplete", "error"),
                toolExecutionNotifications=many(notification),
            ),
            1,
        ),
        "properties": shape(
            **{
                "verdict": text,
                "scope": one_of("every-launch", "given-launch", "tried-launches", None),
                "scopes": scopes,
                "everyLaunchWhere?": number,
                "kernels": kernels,
                "findings": number,
                "notes": number,
                "suppressed": number,
                "leftOut": number,
                "shard?": shape(number=number, of=number, inputs=number),
            }
        ),
    }
)

document = shape(**{"$schema": text, "version": one_of("2.1.0"), "runs": many(run, 1)})

STATUS = {"clean": 0, "findings": 1, "error": 2, "incomplete": 3}


def check(sarif, status):
    """Raises Wrong if it is not what `weir check`, which ended with that status, has to write."""
    document(sarif, "$")
    expect(len(sarif["runs"]) == 1, "there are several runs")
    the_run = sarif["runs"][0]
    driver = the_run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    expect(len(set(ids)) == len(ids), "a rule is there twice")
    kinds = {kind["id"] for kind in driver["notifications"]}
    expect(len(the_run["results"]) <= MOST_RESULTS, "there are too many results")
    for each in the_run["results"]:
        expect(ids[each["ruleIndex"]] == each["ruleId"], f"{each['ruleId']} is not rule {each['ruleIndex']}")
        opened = each.get("kind") == "open"
        expect((each["level"] == "none") == opened, f"a result of level {each['level']} is {each.get('kind', 'fail')}")
        expect(opened == (each["ruleId"] == "incomplete"), "only what is incomplete is open")
    for rule_ in driver["rules"]:
        expect(len(rule_["properties"]["tags"]) <= 20, f"{rule_['id']} has too many tags")
    for told in the_run["invocations"][0]["toolExecutionNotifications"]:
        expect(told["descriptor"]["id"] in kinds, f"there is no notification {told['descriptor']['id']}")
    base = the_run["originalUriBaseIds"]["SRCROOT"].get("uri")
    expect(base is None or (base.startswith("file:///") and base.endswith("/")), f"the base is {base!r}")
    for levels, key in ((("error", "warning"), "findings"), (("note",), "notes")):
        told = sum(each["level"] in levels and not each["suppressions"] for each in the_run["results"])
        if not the_run["properties"]["leftOut"]:
            expect(told == the_run["properties"][key], f"{told} {key} are told")
    verdict = the_run["properties"]["verdict"]
    invocation = the_run["invocations"][0]
    expect(STATUS[verdict] == status, f"the verdict is {verdict}, the status {status}")
    expect(invocation["exitCode"] == status and invocation["exitCodeDescription"].split(" (")[0] == verdict, "exitCode is another one")
    expect(invocation["executionSuccessful"] == (verdict != "error"), "executionSuccessful is not what it was")
    if verdict == "incomplete":
        expect(invocation["toolExecutionNotifications"], "nothing says what is incomplete")
