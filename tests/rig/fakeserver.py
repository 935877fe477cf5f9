#!/usr/bin/env python3
"""Fake OpenAI-compatible chat-completions server (stdlib only, loopback only).

A scenario is given by the URL path or by the model name, so that any client that takes
base_url + model can be pointed at it:

    base_url = http://127.0.0.1:8099/s/<spec>/v1          model = anything
    base_url = http://127.0.0.1:8099/v1                    model = fake__turns=5__fault=429

<spec> is k=v pairs joined by "," in the path and by "__" in the model name (values URL-quoted).
The model's pairs win over the path's.  Keys:

  run=ID          statistics bucket (default "default"); the turn counter lives in it
  turns=N         tool-call turns before the final text (5)
  par=K           tool calls in each of these turns (1)
  tool=NAME       the tool to call (ping)            args=JSON   its arguments ({"n": TURN})
  final=M         tokens of the final text (20); "tok0 tok1 ... tokM-1 DONE"
  finaltool=NAME  end with a call of that tool {"answer": text}; default: used when the request offers
                  a tool named final_answer
  argchunk=C      characters of the arguments in each streamed delta (8)
  ttfb=S delay=S  seconds before the first byte / between chunks (0, 0)
  think=N         N reasoning_content deltas before the answer (0)
  usage=0|1       send usage (1)                     strict=0|1  reject broken histories with 400 (1)
  fault=NAME      see FAULTS below                   at=T        the turn it strikes (1; 0-based;
                                                                 at=turns strikes the final text)
  times=N         how many requests it strikes (1)   ra=S        Retry-After seconds (2)
  slow=S          seconds for fault=slow / stall (8)

Control: GET /_stats?run=ID[&bodies=1]   POST /_reset?run=ID   GET /_faults
"""
import asyncio, json, os, re, sys, time, itertools, argparse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import quirks
from urllib.parse import unquote, urlsplit, parse_qs

FAULTS = {
 "429": "429 + Retry-After",
 "429ms": "429 + retry-after-ms only",
 "429date": "429 + Retry-After as an HTTP date",
 "429quota": "429 insufficient_quota (retrying cannot help)",
 "500": "500 with a JSON error", "503": "503 with an HTML body", "400ctx": "400 context_length_exceeded",
 "html200": "200 with an HTML page instead of JSON/SSE",
 "drop": "TCP reset half way through the body/stream",
 "eof": "stream ends cleanly half way: no finish_reason, no [DONE] (non-stream: truncated JSON, right length)",
 "stall": "half of the stream, then silence for slow= seconds, then the rest",
 "slow": "first byte after slow= seconds",
 "sseerror": "error object inside the SSE stream half way (non-stream: 200 + {error:...})",
 "badjson": "unterminated JSON in the tool arguments",
 "badjson2": "repairable JSON in the tool arguments (single quotes, trailing comma)",
 "argsobj": "arguments is an object, not a string",
 "argsempty": "arguments is an empty string",
 "argslist": "arguments is valid JSON, but a list",
 "argstype": "a wrong type for the argument (string that is no number)",
 "unknown": "unknown tool name", "noname": "tool call with an empty name",
 "empty": "choices: []", "nullmsg": "assistant message with neither text nor tool calls, finish stop",
 "refusal": "message.refusal instead of content", "filter": "finish_reason content_filter, no content",
 "dupid": "two parallel calls with the same id", "reuseid": "the same id in every turn (all turns)",
 "noid": "tool calls without ids (two parallel)", "noindex": "tool-call deltas without index (two parallel)",
 "noidindex": "tool-call deltas without id and index (two parallel)",
 "sameindex": "two parallel calls, each whole in a delta, both with index 0",
 "length": "finish_reason=length in the middle of the tool arguments",
 "lengthtext": "finish_reason=length in the middle of the final text",
 "stopcalls": "finish_reason=stop although there are tool calls (all turns)",
 "comments": "SSE comment keep-alives before the data (all turns)",
 "nodone": "no [DONE] line (all turns)",
 "reasonecho": "DeepSeek-like: answers carry reasoning_content, and it must come back with tool calls, else 400 (all turns)",
 "sigecho": "Gemini-like: tool calls carry extra_content.google.thought_signature, which must come back, else 400 (all turns)",
 "crlf": "SSE with CRLF line ends and odd TCP split points (all turns)",
}
ALWAYS = {"reasonecho", "sigecho", "reuseid", "stopcalls", "comments", "nodone", "crlf"}
quirks.install(FAULTS, ALWAYS)
RUNS = {}
CONNECTIONS = {"all": 0, "open": 0}

class Run:
    def __init__(self):
        self.turn = 0; self.struck = 0; self.reqs = []; self.prev = b""; self.prevc = ""; self.issued = []
        self.bodies = []; self.proto = []

def parse_spec(text, sep):
    out = {}
    for part in text.split(sep):
        if "=" in part:
            k, v = part.split("=", 1); out[k] = unquote(v)
    return out

def common(a, b):
    n = min(len(a), len(b)); lo, hi = 0, n
    if a[:n] == b[:n]: return n
    while lo < hi:
        m = (lo + hi + 1) // 2
        if a[:m] == b[:m]: lo = m
        else: hi = m - 1
    return lo

def canonical(d):
    """Order in which providers render a prompt: tools, then messages."""
    return json.dumps(d.get("tools") or [], separators=(",", ":")) + "\n" + "\n".join(
        json.dumps(m, separators=(",", ":")) for m in d.get("messages") or [])

NAME = re.compile("[a-zA-Z0-9_-]{1,64}")

def encodable(m):
    try: json.dumps(m, ensure_ascii=False).encode(); return True
    except UnicodeEncodeError: return False

def check(d):
    """What real servers reject."""
    errs, pending = [], None
    if not d.get("messages"): errs.append("no messages")
    for t in d.get("tools") or []:
        if not NAME.fullmatch(t["function"]["name"]): errs.append("bad tool name %.80r" % t["function"]["name"])
    if "tools" in d and not d["tools"]: errs.append("[] is too short - 'tools'")
    for m in d.get("messages") or []:
        r = m.get("role")
        if r not in ("system", "developer", "user", "assistant", "tool"): errs.append("unknown role %r" % r)
        if r in ("user", "system", "tool") and not m.get("content"): errs.append("%s message without content" % r)
        if not encodable(m): errs.append("text that is no UTF-8")
        if pending and r != "tool":
            errs.append("tool_call_ids without a tool message: %s" % sorted(pending)); pending = None
        if r == "tool":
            if pending is None or m.get("tool_call_id") not in pending:
                errs.append("tool message without a preceding tool_call %r" % m.get("tool_call_id"))
            else: pending.discard(m["tool_call_id"]) 
        if r == "assistant":
            tc = m.get("tool_calls") or []
            if not tc and not m.get("content"): errs.append("assistant message without content and tool_calls")
            pending = set()
            for c in tc:
                if c.get("id") in pending: errs.append("duplicate tool_call id %r" % c.get("id"))
                if not c.get("id"): errs.append("tool_call without id")
                if not isinstance(c.get("id"), str) or len(c["id"]) > 40: errs.append("tool_call id longer than 40")
                n = (c.get("function") or {}).get("name")
                if n and not NAME.fullmatch(n): errs.append("bad function name %.80r in the history" % n)
                if c.get("type") != "function": errs.append("tool_call without type")
                pending.add(c.get("id"))
                a = (c.get("function") or {}).get("arguments")
                if not isinstance(a, str): errs.append("arguments not a string")
                else:
                    try:
                        if not isinstance(json.loads(a), dict): errs.append("arguments not an object: %.60r" % a)
                    except ValueError: errs.append("arguments not JSON: %.60r" % a)
                if not (c.get("function") or {}).get("name"): errs.append("tool_call without name")
            pending = pending or None
    if pending: errs.append("history ends with unanswered tool_call_ids %s" % sorted(map(str, pending)))
    return errs

class Abort(Exception): pass

class Handler:
    def __init__(self, r, w): self.r, self.w = r, w

    async def send(self, status, body, ctype="application/json", extra=()):
        if not isinstance(body, bytes): body = body.encode()
        h = ["HTTP/1.1 %d X" % status, "content-type: " + ctype, "content-length: %d" % len(body), *extra]
        self.w.write(("\r\n".join(h) + "\r\n\r\n").encode() + body); await self.w.drain()

    def abort(self):
        self.w.transport.abort(); raise Abort

    async def nap(self, seconds):
        """Sleep, but wake when the client closes the connection."""
        try: await asyncio.wait_for(self.gone(), seconds); self.abort()
        except asyncio.TimeoutError: pass

    async def gone(self):
        """Until the client has closed the connection."""
        while await self.r.read(65536): pass

    async def serve(self):
        try:
            while True:
                head = await self.r.readuntil(b"\r\n\r\n")
                lines = head.decode("latin1").split("\r\n"); method, target, _ = lines[0].split(" ", 2)
                hd = {k.lower(): v.strip() for k, v in (l.split(":", 1) for l in lines[1:] if ":" in l)}
                body = await self.r.readexactly(int(hd.get("content-length", 0)))
                self.headers, self.target = hd, target
                await self.route(method, target, hd, body, len(head))
        except (asyncio.IncompleteReadError, ConnectionError, Abort): pass
        finally:
            try: self.w.close()
            except Exception: pass

    async def route(self, method, target, hd, body, headlen):
        u = urlsplit(target); q = {k: v[0] for k, v in parse_qs(u.query).items()}; path = u.path
        if path == "/_stats":
            run = RUNS.get(q.get("run", "default")) or Run()
            d = {"turn": run.turn, "struck": run.struck, "requests": run.reqs, "protocol_errors": run.proto}
            if q.get("bodies"): d["bodies"] = [b.decode("utf8", "replace") for b in run.bodies]
            return await self.send(200, json.dumps(d))
        if path == "/_reset": RUNS.pop(q.get("run", "default"), None); return await self.send(200, "{}")
        if path == "/_faults": return await self.send(200, json.dumps(FAULTS))
        spec = {}
        if path.startswith("/s/"):
            s, _, rest = path[3:].partition("/"); spec = parse_spec(s, ","); path = "/" + rest
        if path.endswith("/models") and spec.get("models"):   # the fault strikes the list of models
            f = spec.get("fault")
            if f == "404": return await self.send(404, json.dumps({"error": {"message": "Not Found"}}))
            self.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"); await self.w.drain()
            if f == "drop": await asyncio.sleep(0.05); self.abort()
            await self.gone(); self.abort()
        if path.endswith("/models"):
            return await self.send(200, json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}))
        if path.endswith("/responses"): return await self.responses(json.loads(body), body, spec, headlen)
        if not path.endswith("/chat/completions"):
            return await self.send(404, json.dumps({"error": {"message": "unknown path " + path, "type": "invalid_request_error"}}))
        t0 = time.perf_counter()
        d = json.loads(body); spec.update(parse_spec(d.get("model", ""), "__"))
        run = RUNS.setdefault(spec.get("run", "default"), Run())
        can = canonical(d); stream = bool(d.get("stream"))
        rec = {"t_recv": t0, "bytes": len(body), "head": headlen, "stream": stream,
               "raw_prefix": common(run.prev, body), "prev_bytes": len(run.prev),
               "can_len": len(can), "can_prefix": common(run.prevc, can), "can_prev": len(run.prevc),
               "messages": len(d.get("messages") or []), "tools": len(d.get("tools") or []),
               "headers": self.headers, "target": self.target}
        run.prev, run.prevc = body, can; run.reqs.append(rec); run.bodies.append(body)
        if len(run.bodies) > 400: run.bodies.pop(0)
        try: await self.chat(d, spec, run, rec, stream)
        finally: rec["t_done"] = time.perf_counter()

    async def responses(self, d, body, spec, headlen):
        """Happy path of the Responses API only (no faults), for clients that speak nothing else."""
        t0 = time.perf_counter(); spec.update(parse_spec(d.get("model", ""), "__"))
        run = RUNS.setdefault(spec.get("run", "default"), Run()); stream = bool(d.get("stream"))
        inp = d.get("input"); inp = [{"role": "user", "content": inp}] if isinstance(inp, str) else inp
        can = canonical({"tools": d.get("tools"), "messages": [d.get("instructions") or ""] + list(inp or [])})
        rec = {"t_recv": t0, "bytes": len(body), "head": headlen, "stream": stream, "raw_prefix": common(run.prev, body), "prev_bytes": len(run.prev),
               "can_len": len(can), "can_prefix": common(run.prevc, can), "can_prev": len(run.prevc), "messages": len(inp or []), "tools": len(d.get("tools") or []),
               "turn": run.turn, "fault": None, "status": 200}
        run.prev, run.prevc = body, can; run.reqs.append(rec); run.bodies.append(body)
        n = int(spec.get("final", 20))
        if run.turn < int(spec.get("turns", 5)):
            item = {"type": "function_call", "id": "fc_%d" % run.turn, "call_id": "call_%d" % run.turn, "name": spec.get("tool", "ping"), "arguments": json.dumps({"n": run.turn}), "status": "completed"}
        else:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": " ".join("tok%d" % i for i in range(n)) + " DONE", "annotations": []}]}
        run.turn += 1
        out = {"id": "resp_%d" % len(run.reqs), "object": "response", "created_at": 1700000000, "model": d.get("model"), "status": "completed", "output": [item], "error": None,
               "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
               "usage": {"input_tokens": rec["can_len"] // 4, "output_tokens": n, "total_tokens": rec["can_len"] // 4 + n, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
        if not stream: await self.send(200, json.dumps(out))
        else:
            ev = [("response.created", {"response": dict(out, output=[], status="in_progress")}), ("response.output_item.added", {"output_index": 0, "item": dict(item, **({"content": []} if item["type"] == "message" else {"arguments": ""}))})]
            if item["type"] == "message":
                for p in item["content"][0]["text"].split(" "): ev.append(("response.output_text.delta", {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": p + " ", "logprobs": []}))
            else: ev.append(("response.function_call_arguments.delta", {"item_id": item["id"], "output_index": 0, "delta": item["arguments"]}))
            ev += [("response.output_item.done", {"output_index": 0, "item": item}), ("response.completed", {"response": out})]
            self.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for i, (t, e) in enumerate(ev):
                b = ("event: %s\ndata: %s\n\n" % (t, json.dumps(dict(e, type=t, sequence_number=i)))).encode(); self.w.write(b"%x\r\n" % len(b) + b + b"\r\n")
            self.w.write(b"0\r\n\r\n"); await self.w.drain()
        rec["t_done"] = time.perf_counter()

    async def chat(self, d, spec, run, rec, stream):
        g = lambda k, dv: type(dv)(spec.get(k, dv))
        turns, at, times = g("turns", 5), g("at", 1), g("times", 1)
        fault = spec.get("fault"); strike = False
        if fault in ALWAYS: strike = True
        elif fault and run.turn == at and run.struck < times: strike = True; run.struck += 1
        if fault and fault not in FAULTS: return await self.send(400, json.dumps({"error": {"message": "no such fault"}}))
        f = fault if strike else None
        rec["fault"] = f; rec["turn"] = run.turn
        errs = check(d)
        for m in d.get("messages") or []:
            if m.get("role") != "assistant" or not m.get("tool_calls"): continue
            if f == "reasonecho" and not m.get("reasoning_content"): errs.append("The `reasoning_content` in the thinking mode must be passed back to the API."); break
            if f == "sigecho" and not all((((c.get("extra_content") or {}).get("google")) or {}).get("thought_signature") for c in m["tool_calls"]): errs.append("Function call is missing a thought_signature in functionCall parts."); break
        if errs:
            run.proto.append({"req": len(run.reqs) - 1, "errors": errs})
            if g("strict", 1):
                rec["status"] = 400
                return await self.send(400, json.dumps({"error": {"message": "Invalid history: " + errs[0], "type": "invalid_request_error", "param": "messages", "code": None}}))
        q = quirks.QUIRKS.get(f)
        if q and q.refuse and (why := q.refuse(d)):
            rec["status"] = 400
            return await self.send(400, json.dumps({"error": {"message": why, "type": "invalid_request_error", "param": None, "code": None}}))
        err = lambda m, t, c=None: json.dumps({"error": {"message": m, "type": t, "param": None, "code": c}})
        ra = g("ra", 2.0)
        st = {"429": 429, "429ms": 429, "429date": 429, "429quota": 429, "500": 500, "503": 503, "400ctx": 400}.get(f)
        rec["status"] = st or 200
        if f == "429": return await self.send(429, err("Rate limit reached", "rate_limit_error", "rate_limit_exceeded"), extra=["retry-after: %g" % ra])
        if f == "429ms": return await self.send(429, err("Rate limit reached", "rate_limit_error", "rate_limit_exceeded"), extra=["retry-after-ms: %d" % (ra * 1000)])
        if f == "429date":
            import email.utils
            return await self.send(429, err("Rate limit reached", "rate_limit_error"), extra=["retry-after: " + email.utils.formatdate(time.time() + ra + 1, usegmt=True)])
        if f == "429quota": return await self.send(429, err("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota"))
        if f == "500": return await self.send(500, err("The server had an error", "server_error"))
        if f == "503": return await self.send(503, "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>", "text/html")
        if f == "400ctx": return await self.send(400, err("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "invalid_request_error", "context_length_exceeded"))
        if f == "html200": return await self.send(200, "<html><body><h1>Sign in</h1></body></html>", "text/html")
        await asyncio.sleep(g("ttfb", 0.0))
        if f == "slow":
            await self.nap(g("slow", 8.0))
            if self.r.at_eof(): self.abort()
        # ---- the message
        names = [t.get("function", {}).get("name") for t in d.get("tools") or []]
        ft = spec.get("finaltool") or ("final_answer" if "final_answer" in names else None)
        text, calls, finish, refusal = None, [], "tool_calls", None
        ntok = g("final", 20)
        final = " ".join("tok%d" % i for i in range(ntok)) + " DONE"
        last = run.turn >= turns
        if not last or ft:
            par = 1 if last else g("par", 1)
            if f in ("dupid", "noid", "noindex", "noidindex", "sameindex"): par = 2
            if q and not last: par = max(par, q.par)
            for i in range(par):
                name = ft if last else spec.get("tool", "ping")
                args = json.dumps({"answer": final}) if last else (spec.get("args") or json.dumps({"n": run.turn * 10 + i if par > 1 else run.turn})).replace("TURN", str(run.turn))
                calls.append({"id": "call_%d_%d" % (len(run.reqs), i), "name": name, "args": args})
        else: text, finish = final, "stop"
        if calls:
            c = calls[0]
            if f == "badjson": c["args"] = c["args"][:-1] + ","
            elif f == "badjson2": c["args"] = c["args"].replace('"', "'")[:-1] + ",}"
            elif f == "argsobj": c["args"] = json.loads(c["args"])
            elif f == "argsempty": c["args"] = ""
            elif f == "argslist": c["args"] = "[1, 2]"
            elif f == "argstype": c["args"] = '{"n": "not a number"}'
            elif f == "unknown": c["name"] = "no_such_tool"
            elif f == "noname": c["name"] = ""
            elif f == "length": c["args"] = c["args"][: max(2, len(c["args"]) // 2)]; finish = "length"
            elif f == "stopcalls": finish = "stop"
            if f == "reuseid": c["id"] = "call_same"
            if f == "dupid":
                for x in calls: x["id"] = "call_dup"
            if f in ("noid", "noidindex"):
                for x in calls: x["id"] = None
        if f == "nullmsg": text, calls, finish = "", [], "stop"
        if f == "refusal": text, calls, finish, refusal = None, [], "stop", "I cannot help with that."
        if f == "filter": text, calls, finish = "", [], "content_filter"
        if f == "lengthtext": text, calls, finish = "tok0 tok1 tok", [], "length"
        usage = {"prompt_tokens": rec["can_len"] // 4, "completion_tokens": ntok if text else 15, "total_tokens": rec["can_len"] // 4 + (ntok if text else 15),
                 "prompt_tokens_details": {"cached_tokens": rec["can_prefix"] // 4}, "completion_tokens_details": {"reasoning_tokens": 0}}
        if q and not q.good and q.applies(stream): pass
        elif f not in ("drop", "eof", "stall", "sseerror", "empty", "nullmsg", "refusal", "filter", "badjson", "badjson2", "argslist", "argstype", "argsempty", "unknown", "noname", "length", "lengthtext"):
            run.turn += 1          # a good answer: the scenario moves on
        if f == "reasonecho": spec["think"] = "3"
        sig = {"extra_content": {"google": {"thought_signature": "c2lnbmF0dXJl"}}} if f == "sigecho" else {}
        base = {"id": "chatcmpl-%d" % len(run.reqs), "created": 1700000000, "model": d.get("model", "fake")}
        if not stream:
            msg = {"role": "assistant", "content": text}
            if refusal: msg["refusal"] = refusal
            if g("think", 0): msg["reasoning_content"] = " ".join("why%d" % i for i in range(g("think", 0)))
            if calls:
                msg["tool_calls"] = []
                for c in calls:
                    tc = {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["args"]}, **sig}
                    if f in ("noid", "noidindex"): tc.pop("id")
                    msg["tool_calls"].append(tc)
            out = dict(base, object="chat.completion", choices=[] if f == "empty" else [{"index": 0, "message": msg, "finish_reason": finish, "logprobs": None}])
            if g("usage", 1): out["usage"] = usage
            if f == "sseerror": out = {"error": {"message": "upstream overloaded", "type": "server_error", "code": 502}}
            if q and q.whole: out = q.whole(out)
            b = out if isinstance(out, bytes) else json.dumps(out).encode()
            if q and q.http:
                self.other_body = b"data: " + json.dumps(dict(base, choices=[{"index": 0, "delta": msg, "finish_reason": finish}])).encode() + b"\n\ndata: [DONE]\n\n"
                return await q.http(self, b, False)
            if f == "drop":
                self.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(b) + b[:len(b) // 2])
                await self.w.drain(); await asyncio.sleep(0.05); self.abort()
            if f == "eof": b = b[:len(b) // 2]
            if f == "stall":
                self.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(b) + b[:len(b) // 2])
                await self.w.drain(); await self.nap(g("slow", 8.0)); run.turn += not self.r.at_eof(); self.w.write(b[len(b) // 2:]); return await self.w.drain()
            return await self.send(200, b)
        # ---- streaming
        ch = []
        def add(delta, fin=None):
            ch.append(dict(base, object="chat.completion.chunk", choices=[{"index": 0, "delta": delta, "finish_reason": fin, "logprobs": None}]))
        add({"role": "assistant", "content": "" if text is not None else None})
        for i in range(g("think", 0)): add({"reasoning_content": "why%d " % i})
        if refusal: add({"refusal": refusal})
        if text:
            for p in text.split(" ")[:-1]: add({"content": p + " "})
            add({"content": text.split(" ")[-1]})
        n = g("argchunk", 8)
        for i, c in enumerate(calls):
            a = c["args"]
            parts = [a] if not isinstance(a, str) or f == "sameindex" else ([a[j:j + n] for j in range(0, len(a), n)] or [""])
            for j, p in enumerate(parts):
                tc = {"index": 0 if f == "sameindex" else i, "function": {"arguments": p}}
                if j == 0: tc.update(id=c["id"], type="function", **sig); tc["function"]["name"] = c["name"]
                if f in ("noid", "noidindex"): tc.pop("id", None)
                if f in ("noindex", "noidindex"): tc.pop("index")
                add({"tool_calls": [tc]})
        add({}, finish)
        if f == "empty": ch = [dict(base, object="chat.completion.chunk", choices=[])]
        if g("usage", 1) and (d.get("stream_options") or {}).get("include_usage"):
            ch.append(dict(base, object="chat.completion.chunk", choices=[], usage=usage))
        if q and q.http:
            msg = {"role": "assistant", "content": text, **({"tool_calls": [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["args"]}} for c in calls]} if calls else {})}
            self.other_body = json.dumps(dict(base, object="chat.completion", choices=[{"index": 0, "message": msg, "finish_reason": finish}])).encode()
            return await q.http(self, b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in ch) + b"data: [DONE]\n\n", True)
        if q and q.chunks:
            with_usage = [c for c in ch if not c["choices"]]
            ch = q.chunks([c for c in ch if c["choices"]]) + with_usage
        self.w.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        nl = b"\r\n" if f == "crlf" else b"\n"
        async def raw(b):
            self.w.write(b"%x\r\n" % len(b) + b + b"\r\n")
        if f == "comments":
            for _ in range(3): await raw(b": OPENROUTER PROCESSING\n\n")
        cut = max(1, len(ch) // 2) if f in ("drop", "eof", "stall", "sseerror") else None
        delay = g("delay", 0.0); carry = b""
        for i, c in enumerate(ch):
            if i == cut:
                await self.w.drain()
                if f == "drop": await asyncio.sleep(0.05); self.abort()
                if f == "eof": break
                if f == "stall": await self.nap(g("slow", 8.0)); run.turn += not self.r.at_eof()
                if f == "sseerror":
                    await raw(b"data: " + json.dumps({"error": {"message": "upstream overloaded", "type": "server_error", "code": 502}}).encode() + b"\n\n"); break
            b = c if isinstance(c, bytes) else b"data: " + json.dumps(c).encode() + nl + nl
            if f == "crlf":
                b = carry + b; k = len(b) - 7; carry = b[k:]; b = b[:k]
            await raw(b)
            if delay: await self.w.drain(); await asyncio.sleep(delay)
        if carry: await raw(carry)
        if f not in ("eof", "nodone", "sseerror"): await raw(b"data: [DONE]" + nl + nl)
        self.w.write(b"0\r\n\r\n"); await self.w.drain()

async def main(port, ready=None):
    async def on(r, w):
        s = w.get_extra_info("socket")
        import socket; s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        CONNECTIONS["all"] += 1; CONNECTIONS["open"] += 1
        try: await Handler(r, w).serve()
        finally: CONNECTIONS["open"] -= 1
    srv = await asyncio.start_server(on, "127.0.0.1", port, limit=1 << 26)
    port = srv.sockets[0].getsockname()[1]
    print("listening on 127.0.0.1:%d" % port, flush=True)
    if ready: ready(port)
    async with srv: await srv.serve_forever()

if __name__ == "__main__":
    ap = argparse.ArgumentParser(); ap.add_argument("--port", type=int, default=8099)
    asyncio.run(main(ap.parse_args().port))
