"""More faults for fakeserver.py: what servers do beside the first 44. See README.md beside this.

A quirk changes a good answer. Its functions get what the server would have sent:
  chunks(list of chunk dicts) -> list of dicts (sent as `data: …`) and bytes (sent as they are)
  whole(response dict)        -> dict or bytes, for requests without streaming
  http(handler, body, stream) -> coroutine that writes the whole HTTP response itself
A mode without a function is answered as if there were no fault.
"""
import copy, gzip, json, asyncio

QUIRKS = {}


class Quirk:
    def __init__(self, text, chunks=None, whole=None, http=None, par=1, good=True, always=False, final=False, refuse=None):
        self.text, self.chunks, self.whole, self.http = text, chunks, whole, http
        self.par = par        # calls in the turn it strikes
        self.good = good      # whether the answer is a good one, so that the scenario moves on
        self.always = always  # strikes every turn
        self.final = final    # made for the final text: use at=turns
        self.refuse = refuse  # (request) -> text of a 400, or None

    def applies(self, stream):
        return bool(self.http or (self.chunks if stream else self.whole))


def quirk(name, text, **kw):
    def add(f):
        QUIRKS[name] = Quirk(text, chunks=f, **kw); return f
    return add


def both(name, text, **kw):
    """The function takes a message or delta dict and changes it; used for every delta and for the whole."""
    def add(f):
        def chunks(ch):
            for c in ch:
                for x in c["choices"]: f(x["delta"], x)
            return ch
        def whole(out):
            for x in out["choices"]: f(x["message"], x)
            return out
        QUIRKS[name] = Quirk(text, chunks=chunks, whole=whole, **kw); return f
    return add


def deltas(ch):
    """(chunk, entry of tool_calls) for all of them, in order."""
    return [(c, t) for c in ch for x in c["choices"] for t in (x["delta"].get("tool_calls") or [])]


def texts(ch):
    return [(c, x["delta"]) for c in ch for x in c["choices"] if x["delta"].get("content")]


def by_call(ch):
    """The entries of each call, by index."""
    out = {}
    for c, t in deltas(ch): out.setdefault(t["index"], []).append((c, t))
    return out


# ---- calls: ids, indexes, names
@quirk("idnoise", "a new id in each delta of a call", par=2)
def _(ch):
    for i, (c, t) in enumerate(deltas(ch)): t["id"] = "noise_%d" % i
    return ch

@quirk("namesagain", "the name in each delta", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        for c, t in parts: t["function"]["name"] = "ping"
    return ch

@quirk("idsagain", "id and type in each delta, no index", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        for c, t in parts: t["id"] = parts[0][1]["id"]; t["type"] = "function"; t.pop("index")
    return ch

@quirk("allagain", "id, name and index in each delta", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        for c, t in parts: t["id"] = parts[0][1]["id"]; t["function"]["name"] = "ping"
    return ch

@quirk("cumulative", "arguments from the start again in each delta, with the name", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        text = ""
        for c, t in parts: text += t["function"]["arguments"]; t["function"] = {"name": "ping", "arguments": text}
    return ch

def zipped(ch):
    calls = by_call(ch); rest = [c for c in ch if not any(x["delta"].get("tool_calls") for x in c["choices"])]
    mixed = [p[k][0] for k in range(max(map(len, calls.values()), default=0)) for p in calls.values() if k < len(p)]
    return rest[:1] + mixed + rest[1:]

@quirk("interleaved", "two calls interleaved by index", par=2)
def _(ch): return zipped(ch)

@quirk("interleavedid", "two calls interleaved, ids in each delta and no index", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        for c, t in parts: t["id"] = parts[0][1]["id"]
    ch = zipped(ch)
    for c, t in deltas(ch): t.pop("index")
    return ch

@quirk("indexjump", "the index grows with each delta")
def _(ch):
    for i, (c, t) in enumerate(deltas(ch)): t["index"] = i
    return ch

@quirk("indexone", "indexes from 1", par=2)
def _(ch):
    for c, t in deltas(ch): t["index"] += 1
    return ch

@quirk("indextext", "the index as a text", par=2)
def _(ch):
    for c, t in deltas(ch): t["index"] = str(t["index"])
    return ch

@quirk("latename", "the name is null first and comes with the second delta", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        parts[0][1]["function"]["name"] = None
        if len(parts) > 1: parts[1][1]["function"]["name"] = "ping"
        else: parts[0][1]["function"]["name"] = "ping"
    return ch

@quirk("lateid", "the id comes with the last delta", par=2)
def _(ch):
    for i, parts in by_call(ch).items():
        parts[-1][1]["id"] = parts[0][1].pop("id") if len(parts) > 1 else parts[0][1]["id"]
    return ch

@quirk("nameparts", "the name in two pieces", par=2)
def _(ch):
    out = []
    heads = {id(p[0][0]): p[0] for p in by_call(ch).values()}
    for c in ch:
        if id(c) not in heads: out.append(c); continue
        first = copy.deepcopy(c); f = first["choices"][0]["delta"]["tool_calls"][0]["function"]; f.update(name="pi", arguments="")
        t = heads[id(c)][1]; rest = copy.deepcopy(c); r = rest["choices"][0]["delta"]["tool_calls"][0]; r.pop("id"); r["function"]["name"] = "ng"
        out += [first, rest]
    return out

def merged(ch):
    """Each call whole; gives (chunks without calls, list of whole entries)."""
    calls = []
    for i, parts in by_call(ch).items():
        t = copy.deepcopy(parts[0][1]); t["function"]["arguments"] = "".join(p["function"]["arguments"] for _, p in parts); calls.append(t)
    return [c for c in ch if not any(x["delta"].get("tool_calls") for x in c["choices"])], calls

def with_delta(ch, at, *ds):
    out = []
    for d in ds:
        c = copy.deepcopy(ch[0]); c["choices"][0].update(delta=d, finish_reason=None); out.append(c)
    return ch[:at] + out + ch[at:]

@quirk("oneshot", "both calls whole in one delta, without ids and indexes", par=2)
def _(ch):
    rest, calls = merged(ch)
    for t in calls: t.pop("id"); t.pop("index")
    return with_delta(rest, 1, {"tool_calls": calls})

@quirk("calldict", "tool_calls is one object in place of a list")
def _(ch):
    for c in ch:
        for x in c["choices"]:
            if x["delta"].get("tool_calls"): x["delta"]["tool_calls"] = x["delta"]["tool_calls"][0]
    return ch

@quirk("flatcall", "name and arguments beside the id, without `function`", par=2)
def _(ch):
    for c, t in deltas(ch): t.update(t.pop("function"))
    return ch

@quirk("placeholder", "`{}` as arguments first, then the real ones", par=2)
def _(ch):
    out = []
    for c in ch:
        t = (c["choices"][0]["delta"].get("tool_calls") or [{}])[0]
        if t.get("id"):
            head = copy.deepcopy(c); head["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = "{}"; out.append(head)
            t.pop("id"); t["function"].pop("name")
        out.append(c)
    return out

@quirk("callrepeat", "the last chunk repeats each call whole", par=2)
def _(ch):
    _, calls = merged(copy.deepcopy(ch))
    return with_delta(ch, len(ch) - 1, {"tool_calls": calls})

@quirk("dupidheads", "two parallel calls with the same id, interleaved", par=2)
def _(ch):
    for c, t in deltas(ch):
        if t.get("id"): t["id"] = "call_dup"
    return zipped(ch)

@both("legacycall", "the function_call field in place of tool_calls")
def _(m, x):
    calls = m.pop("tool_calls", None)
    if calls:
        m["function_call"] = calls[0]["function"]
    if x.get("finish_reason") == "tool_calls": x["finish_reason"] = "function_call"

@both("noisecalls", "null and empty entries beside the calls")
def _(m, x):
    if m.get("tool_calls"): m["tool_calls"] = [None, {}, *m["tool_calls"], {"index": 7}, "x"]
    elif "tool_calls" not in m: m["tool_calls"] = []

@both("textaround", "text before and after the calls, and reasoning")
def _(m, x):
    if m.get("tool_calls"): m["content"] = "Let me see. "

def renamed(f):
    def change(m, x):
        for t in m.get("tool_calls") or []:
            if "function" in t and t["function"].get("name"): t["function"]["name"] = f(t["function"]["name"])
    return change

both("nametail", "rubbish after the name")(renamed(lambda n: n + "<|channel|>commentary"))
both("nameprefix", "a prefix before the name")(renamed(lambda n: "functions." + n))
both("namecase", "the name in other case")(renamed(lambda n: n.title()))
both("namespaces", "spaces around the name")(renamed(lambda n: " " + n + "\n"))
both("badname", "a name with characters that servers refuse", good=False)(renamed(lambda n: "no such tool/é!"))
both("longname", "a name of 300 characters", good=False)(renamed(lambda n: "n" * 300))

def ided(f):
    def change(m, x):
        for t in m.get("tool_calls") or []:
            if t.get("id"): t["id"] = f(t["id"])
    return change

both("longid", "an id of 400 characters", par=2)(ided(lambda i: i + "x" * 400))
both("oddid", "an id with spaces, a bar and a half surrogate", par=2)(ided(lambda i: "call|" + i + " \ud83d é"))
both("intid", "an id that is a number", par=2)(ided(lambda i: int(i.split("_")[-1]) + 5))
both("emptyid", "an empty id", par=2)(ided(lambda i: ""))

# ---- calls: arguments
def args(f):
    def chunks(ch):
        rest, calls = merged(ch)
        for t in calls: t["function"]["arguments"] = f(t["function"]["arguments"])
        return with_delta(rest, 1, *({"tool_calls": [t]} for t in calls))
    def whole(out):
        for t in out["choices"][0]["message"].get("tool_calls") or []: t["function"]["arguments"] = f(t["function"]["arguments"])
        return out
    return {"chunks": chunks, "whole": whole}

for name, text, f, good in (
    ("argstwice", "arguments encoded twice", lambda a: json.dumps(a), True),
    ("argsconcat", "two objects in a row as arguments", lambda a: a + a, False),
    ("argsnumber", "arguments is a number", lambda a: 7, False),
    ("argsnull", "arguments is null", lambda a: None, False),
    ("argsnan", "NaN in the arguments", lambda a: '{"n": NaN}', False),
    ("argsdeep", "arguments nested 5000 deep", lambda a: '{"n":' * 5000 + "1" + "}" * 5000, False),
    ("argstextnumber", "the number as a text", lambda a: json.dumps({"n": str(json.loads(a)["n"])}), True),
    ("argsextra", "an argument that the tool does not have", lambda a: json.dumps({**json.loads(a), "zzz": 1}), False),
    ("argsspace", "blanks and line ends around the arguments", lambda a: " \n" + a + "\r\n ", True),
    ("argsbig", "300 kB of arguments", lambda a: json.dumps({"n": json.loads(a)["n"], "_pad": "x" * 300000}), False),
    ("argssurrogate", "half a surrogate pair in the arguments", lambda a: '{"n": "\\ud83d"}', False),
):
    QUIRKS[name] = Quirk(text, good=good, **args(f))

# ---- calls in the text
def written(f):
    def chunks(ch):
        rest, calls = merged(ch)
        if not calls: return ch
        text = f(calls[0]["function"]["name"], calls[0]["function"]["arguments"])
        for c in rest:
            for x in c["choices"]:
                if x["finish_reason"]: x["finish_reason"] = "stop"
        return with_delta(rest, 1, *({"content": text[k:k + 7]} for k in range(0, len(text), 7)))
    def whole(out):
        x = out["choices"][0]; calls = x["message"].pop("tool_calls", None)
        if calls: x["message"]["content"] = f(calls[0]["function"]["name"], calls[0]["function"]["arguments"]); x["finish_reason"] = "stop"
        return out
    return {"chunks": chunks, "whole": whole}

for name, text, f in (
    ("writtenfence", "the call as a fenced block in the text", lambda n, a: 'I ping.\n\n```json\n{"name": "%s", "arguments": %s}\n```' % (n, a)),
    ("writtenbare", "the call as bare JSON in the text", lambda n, a: '{"name": "%s", "parameters": %s}\n' % (n, a)),
    ("writtentag", "the call in <tool_call> tags in the text", lambda n, a: 'Sure. <tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>' % (n, a)),
    ("writtenbraces", "the call with doubled braces in tags", lambda n, a: '<tool_call>\n{{"name": "%s", "arguments": %s}}\n</tool_call>' % (n, a)),
):
    QUIRKS[name] = Quirk(text, **written(f))

# ---- messages
@both("nulls", "every field that can be null is there and null")
def _(m, x):
    for k in ("content", "refusal", "reasoning_content", "function_call", "audio", "tool_calls"): m.setdefault(k, None)

@both("emptystrings", "every field that can be empty is there and empty")
def _(m, x):
    for k in ("content", "refusal", "reasoning_content", "reasoning"): m[k] = m.get(k) or ""

@both("unknownkeys", "unknown fields everywhere")
def _(m, x):
    m["x_note"] = {"a": 1}; x["weird"] = [1]; m["annotations"] = []
    for t in m.get("tool_calls") or []: t["x_extra"] = "1"

@both("contentparts", "content as a list of parts", final=True)
def _(m, x):
    if m.get("content"): m["content"] = [{"type": "text", "text": m["content"]}]

@both("contentdict", "content as one part", final=True)
def _(m, x):
    if m.get("content"): m["content"] = {"type": "text", "text": m["content"]}

for field in ("reasoning", "reasoning_text", "thinking"):
    def f(m, x, field=field):
        if m.get("content") or m.get("tool_calls"): m[field] = "hm "
    both("think" + field, "reasoning in the field " + field, always=True)(f)

@both("thinktwice", "the same reasoning in two fields", always=True)
def _(m, x):
    if m.get("content") or m.get("tool_calls"): m["reasoning"] = m["reasoning_content"] = "hm "

@both("thinkonly", "reasoning and nothing else", good=False)
def _(m, x):
    m.pop("tool_calls", None); m["content"] = ""; m["reasoning_content"] = "hm "
    if x.get("finish_reason"): x["finish_reason"] = "stop"

@both("thinklong", "the output limit was reached while reasoning", good=False, final=True)
def _(m, x):
    m.pop("tool_calls", None); m["content"] = None; m["reasoning_content"] = "hm "
    if x.get("finish_reason"): x["finish_reason"] = "length"

@both("oddfinish", "an unknown finish_reason")
def _(m, x):
    if x.get("finish_reason"): x["finish_reason"] = "because"

@both("finisherror", "finish_reason error", good=False)
def _(m, x):
    if x.get("finish_reason"): x["finish_reason"] = "error"

@both("spaces", "an answer of blanks only", good=False, final=True)
def _(m, x):
    if m.get("content"): m["content"] = " \n"

@quirk("refusalparts", "a refusal in several deltas", good=False, final=True)
def _(ch):
    for i, (c, d) in enumerate(texts(ch)): d["refusal"] = "I cannot. " if i < 3 else ""; d["content"] = ""
    return ch

@quirk("emoji", "an emoji whose surrogates come in two deltas", final=True)
def _(ch): return with_delta(ch, 1, {"content": "\ud83d"}, {"content": "\ude00 "})

@quirk("halfemoji", "half a surrogate pair at the end", final=True)
def _(ch): return with_delta(ch, len(ch) - 1, {"content": " DONE \ud83d"})

# ---- chunks
@quirk("roleonly", "chunks with only a role, empty deltas")
def _(ch): return with_delta(ch, 1, {"role": "assistant"}, {}, {"role": "assistant", "content": ""}, {"role": None})

@quirk("choicesnull", "chunks with choices null, missing, or empty")
def _(ch):
    base = {k: v for k, v in ch[0].items() if k != "choices"}
    return ch[:1] + [dict(base, choices=None), dict(base), dict(base, choices=[]), {}, dict(base, choices=[{}]), dict(base, choices=[None])] + ch[1:]

@quirk("deltanull", "a choice with delta null")
def _(ch):
    c = copy.deepcopy(ch[0]); c["choices"][0]["delta"] = None
    return [c] + ch[:1] + [copy.deepcopy(c)] + ch[1:]

@quirk("choiceindex", "the choice's index is 3, then missing")
def _(ch):
    for i, c in enumerate(ch):
        for x in c["choices"]:
            x["index"] = 3
            if i % 2: x.pop("index")
    return ch

@quirk("finishtwice", "a second finish_reason after the first")
def _(ch):
    last = [c for c in ch if c["choices"]][-1]; again = copy.deepcopy(last); again["choices"][0]["finish_reason"] = "stop"
    return ch + [again]

@quirk("finishearly", "finish_reason comes before the last pieces")
def _(ch):
    k = max(i for i, c in enumerate(ch) if c["choices"] and c["choices"][0]["finish_reason"])
    return ch[:1] + [ch[k]] + ch[1:k] + ch[k + 1:]

@quirk("nofinish", "finish_reason null on a complete answer, with [DONE]", always=True)
def _(ch):
    for c in ch:
        for x in c["choices"]: x["finish_reason"] = None
    return ch

@quirk("usageeverywhere", "usage in each chunk and in the choice, with odd values")
def _(ch):
    for i, c in enumerate(ch):
        c["usage"] = {"prompt_tokens": -3, "completion_tokens": i, "total_tokens": None, "prompt_tokens_details": None}
        for x in c["choices"]: x["usage"] = {"prompt_tokens": "many", "completion_tokens": 1.5}
    return ch

@quirk("wholemessage", "the last chunk repeats the whole message", final=True)
def _(ch):
    c = copy.deepcopy(ch[0]); text = "".join(d["content"] for _, d in texts(ch))
    c["choices"][0] = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return ch + [c]

@quirk("messagechunks", "`message` in place of `delta`, once, whole", final=True)
def _(ch):
    text = "".join(d["content"] for _, d in texts(ch)); c = copy.deepcopy(ch[0])
    c["choices"] = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    return [c]

@quirk("textfield", "the text in `choice.text`", final=True)
def _(ch):
    for c, d in texts(ch):
        x = c["choices"][0]; x["text"] = d["content"]; x.pop("delta")
    return ch

@quirk("errornull", "`error: null` in each chunk")
def _(ch):
    for c in ch: c["error"] = None
    return ch

@quirk("hugechunk", "one chunk of 3 MB", final=True)
def _(ch): return with_delta(ch, 1, {"content": "y" * 3_000_000 + " "})

@quirk("deepchunk", "a chunk nested 100000 deep", good=False)
def _(ch): return ch[:1] + [b'data: {"x":' + b"[" * 100000 + b"]" * 100000 + b"}\n\n"] + ch[1:]

# ---- framing
def data(c): return b"data: " + json.dumps(c).encode()

@quirk("bom", "a byte order mark before the first event")
def _(ch): return [b"\xef\xbb\xbf"] + ch

@quirk("pretty", "each event over several data lines")
def _(ch): return [b"".join(b"data: " + l + b"\n" for l in json.dumps(c, indent=1).encode().split(b"\n")) + b"\n" for c in ch]

@quirk("noblank", "no blank line between events")
def _(ch): return [data(c) + b"\n" for c in ch]

@quirk("cr", "CR as the end of lines")
def _(ch): return [data(c) + b"\r\r" for c in ch]

@quirk("jsonlines", "JSON lines without `data:`")
def _(ch): return [json.dumps(c).encode() + b"\n" for c in ch]

@quirk("nospace", "no space after `data:`")
def _(ch): return [b"data:" + json.dumps(c).encode() + b"\n\n" for c in ch]

@quirk("fields", "event, id and retry lines, comments, empty data, pings")
def _(ch): return [b": hi\nevent: message\nid: 7\nretry: 10\n" + data(c) + b"\n\ndata:\n\ndata: ping\n\nevent: ping\ndata: {}\n\n:\n\n" for c in ch]

@quirk("onebyte", "each byte in a chunk of its own")
def _(ch): return [bytes([b]) for c in ch for b in data(c) + b"\n\n"]

@quirk("burst", "all events in one piece")
def _(ch): return [b"".join(data(c) + b"\n\n" for c in ch)]

@quirk("badevent", "an event that is no JSON in the middle", good=False)
def _(ch): k = max(1, len(ch) // 2); return ch[:k] + [b'data: {"choices": [{"delta": \n\n'] + ch[k:]

@quirk("badutf8", "bytes that are no UTF-8 in the text", final=True)
def _(ch): return ch[:1] + [b'data: {"choices": [{"index": 0, "delta": {"content": "\xff\xfe "}}]}\n\n'] + ch[1:]

@quirk("afterdone", "rubbish after [DONE]")
def _(ch): return ch + [b"data: [DONE]\n\ndata: {broken\n\n<html>"]

@quirk("rawerror", "an error as bare JSON over several lines in the stream", good=False)
def _(ch): return ch[:2] + [json.dumps({"error": {"message": "worker died", "code": 500}}, indent=2).encode() + b"\n"]

def midway(c):
    def chunks(ch): return ch[:max(1, len(ch) // 2)] + [c]
    return chunks

for name, text, c in (
    ("errcode", "an error object with nothing but a code", {"error": {"code": 502}}),
    ("errtext", "the error is a text", {"error": "overloaded"}),
    ("errobject", "the error as `object: error`", {"object": "error", "message": "worker died", "type": "InternalServerError", "code": 500}),
    ("errdetail", "the error as `detail`", {"detail": "upstream gone"}),
    ("errchoices", "an error beside choices", {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}], "error": {"message": "provider disconnected", "code": 502}}),
):
    QUIRKS[name] = Quirk(text + ", in the middle", chunks=midway(c), whole=lambda out, c=c: c, good=False)

for name, text, b in (
    ("jsonnull", "the response is null", b"null"), ("jsonlist", "the response is an empty list", b"[]"),
    ("jsonother", "the response is some other JSON object", b'{"status": "ok"}'),
    ("nochoices", "a response without choices", b'{"id": "x", "object": "chat.completion"}'),
    ("nomessage", "a choice without a message", b'{"choices": [{"index": 0, "finish_reason": "stop"}]}'),
    ("plaintext", "plain text in place of JSON", b"upstream request timeout"),
):
    def http(h, body, stream, b=b): return h.send(200, b)
    QUIRKS[name] = Quirk(text, http=http, good=False)

# ---- HTTP
def http(name, text, **kw):
    def add(f): QUIRKS[name] = Quirk(text, http=f, **kw); return f
    return add

@http("closed", "the connection is closed before the response", good=False)
async def _(h, body, stream): h.w.close(); raise ConnectionError

@http("reset", "the connection is reset before the response", good=False)
async def _(h, body, stream): h.abort()

@http("halfheader", "the connection is closed in the middle of the headers", good=False)
async def _(h, body, stream): h.w.write(b"HTTP/1.1 200 OK\r\ncontent-ty"); await h.w.drain(); h.w.close(); raise ConnectionError

@http("nothttp", "the response is no HTTP", good=False)
async def _(h, body, stream): h.w.write(b"hello there\r\n\r\n"); await h.w.drain(); h.w.close(); raise ConnectionError

@http("empty200", "200 with an empty body", good=False)
async def _(h, body, stream): await h.send(200, b"", "text/event-stream" if stream else "application/json")

@http("badchunk", "a broken transfer encoding", good=False)
async def _(h, body, stream):
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n"); await h.w.drain(); h.w.close(); raise ConnectionError

@http("shortbody", "fewer bytes than content-length says", good=False)
async def _(h, body, stream):
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{\"choices\": ["); await h.w.drain(); h.w.close(); raise ConnectionError

@http("badgzip", "content-encoding gzip, but it is not", good=False)
async def _(h, body, stream): await h.send(200, b"not gzip at all", extra=["content-encoding: gzip"])

@http("gzip", "a compressed response")
async def _(h, body, stream): await h.send(200, gzip.compress(body), "text/event-stream" if stream else "application/json", extra=["content-encoding: gzip"])

@http("wrongtype", "the right body with the type text/html")
async def _(h, body, stream): await h.send(200, body, "text/html")

@http("othermode", "JSON for a streaming request, a stream for the other")
async def _(h, body, stream): await h.send(200, h.other_body, "application/json" if stream else "text/event-stream")

@http("notype", "no content-type, no content-length, connection closed at the end")
async def _(h, body, stream): h.w.write(b"HTTP/1.1 200 OK\r\n\r\n" + body); await h.w.drain(); h.w.close(); raise ConnectionError

@http("http10", "HTTP/1.0")
async def _(h, body, stream): h.w.write(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body); await h.w.drain(); h.w.close(); raise ConnectionError

@http("continue100", "100 Continue before the response")
async def _(h, body, stream): h.w.write(b"HTTP/1.1 100 Continue\r\n\r\n"); await h.send(200, body)

@http("hangafterdone", "the response never ends after its last word")
async def _(h, body, stream):
    if not stream: return await h.send(200, body)
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body); await h.w.drain()
    await h.gone(); raise ConnectionError

@http("hangnodone", "no [DONE], and the response never ends after finish_reason")
async def _(h, body, stream):
    if not stream: return await h.send(200, body)
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + body.replace(b"data: [DONE]\n\n", b"")); await h.w.drain()
    await h.gone(); raise ConnectionError

@http("resetafterdone", "the connection is reset after the last word")
async def _(h, body, stream):
    if not stream: return await h.send(200, body)
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n"); await h.w.drain()
    h.w.close(); raise ConnectionError

@http("keepalive", "comments for longer than the idle limit, then the answer")
async def _(h, body, stream):
    if not stream: return await h.send(200, body)
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
    for _ in range(12): h.w.write(b": still there\n\n"); await h.w.drain(); await asyncio.sleep(0.1)
    h.w.write(body); await h.w.drain(); h.w.close(); raise ConnectionError

@http("silentheaders", "good headers, then nothing", good=False)
async def _(h, body, stream):
    h.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"); await h.w.drain(); await h.gone(); raise ConnectionError

@http("silenterror", "500, then nothing", good=False)
async def _(h, body, stream):
    h.w.write(b"HTTP/1.1 500 X\r\ncontent-length: 100\r\n\r\n{"); await h.w.drain(); await h.gone(); raise ConnectionError

for status in (408, 409, 425, 502, 504, 520, 529):
    def f(h, body, stream, status=status): return h.send(status, b'{"error": {"message": "try again", "type": "server_error"}}')
    QUIRKS[str(status)] = Quirk("%d" % status, http=f, good=False)

for name, text, status, b, extra in (
    ("429html", "429 with a web page", 429, b"<html><title>Too many</title></html>", []),
    ("429empty", "429 with an empty body and a negative Retry-After", 429, b"", ["retry-after: -1"]),
    ("429odd", "429 with an unreadable Retry-After", 429, b"{}", ["retry-after: soon"]),
    ("429zero", "429 with Retry-After 0", 429, b"{}", ["retry-after: 0"]),
    ("500empty", "500 with an empty body", 500, b"", []),
    ("500badjson", "500 with broken JSON", 500, b'{"error": {', []),
    ("503noretry", "503 that says not to retry", 503, b"{}", ["x-should-retry: false"]),
    ("500latin", "500 with bytes that are no UTF-8", 500, b'{"error": "\xff\xfe"}', []),
):
    def f(h, body, stream, status=status, b=b, extra=extra): return h.send(status, b, extra=extra)
    QUIRKS[name] = Quirk(text, http=f, good=False)

# refusals that stand: a clear error is what is wanted
STANDS = {"429hour", "503noretry", "402", "401", "403", "404", "422", "413", "301", "400html", "errinvalid"}
for name, text, status, b, extra in (
    ("429hour", "429 that asks to wait an hour", 429, b'{"error": {"message": "Rate limit reached"}}', ["retry-after: 3600"]),
    ("402", "402 payment required", 402, b'{"error": {"message": "Insufficient balance"}}', []),
    ("401", "401 with the key in the message", 401, b'{"error": {"message": "Incorrect API key provided: sk-test-0123456789abcdef"}}', []),
    ("403", "403", 403, b'{"error": {"message": "no access"}}', []),
    ("404", "404 model not found", 404, b'{"error": {"message": "The model `fake` does not exist", "code": "model_not_found"}}', []),
    ("422", "422 with details", 422, b'{"detail": [{"loc": ["body", "messages"], "msg": "value error", "type": "value_error"}]}', []),
    ("413", "413", 413, b"<html>too large</html>", []),
    ("301", "301 without a place", 301, b"", []),
    ("400html", "400 with a web page", 400, b"<html><h1>Bad Request</h1></html>", []),
):
    def f(h, body, stream, status=status, b=b, extra=extra): return h.send(status, b, extra=extra)
    QUIRKS[name] = Quirk(text, http=f, good=False)
QUIRKS["errinvalid"] = Quirk("an error in the stream that blames the request", good=False, chunks=midway({"error": {"message": "bad thing", "type": "invalid_request_error"}}),
                             whole=lambda out: {"error": {"message": "bad thing", "type": "invalid_request_error"}})

# ---- endpoints that refuse a field or form: learnt once
def refuses(name, text, f): QUIRKS[name] = Quirk(text, refuse=f, always=True)
messages = lambda d: d.get("messages") or []
refuses("nostreamoptions", "refuses stream_options", lambda d: "stream_options" in d and "Unrecognized request argument supplied: stream_options")
refuses("nostream", "refuses to stream", lambda d: d.get("stream") and "Your organization must be verified to stream this model.")
refuses("nosystem", "refuses the system role", lambda d: any(m["role"] == "system" for m in messages(d)) and "Unsupported value: 'messages[0].role' does not support 'system' with this model.")
refuses("notools", "refuses tools; the calls come in the text", lambda d: d.get("tools") and "registry.ollama.ai/library/gemma:2b does not support tools")
QUIRKS["notools"].chunks, QUIRKS["notools"].whole = QUIRKS["writtenfence"].chunks, QUIRKS["writtenfence"].whole
refuses("noimages", "refuses images", lambda d: "image_url" in json.dumps(messages(d)) and "Invalid content type. image_url is only supported by certain models.")
refuses("nonull", "refuses content null", lambda d: any(m.get("content", "") is None for m in messages(d)) and "messages.2.content: Input should be a valid string, got None")
refuses("nineids", "wants ids of nine letters or digits", lambda d: any(len(c["id"]) != 9 or not c["id"].isalnum() for m in messages(d) for c in m.get("tool_calls") or []) and "Tool call id was call_1_0 but must be a-z, A-Z, 0-9, with a length of 9.")


def install(faults, always):
    """Make the quirks known to the server."""
    faults.update({name: q.text for name, q in QUIRKS.items()})
    always.update(name for name, q in QUIRKS.items() if q.always)
