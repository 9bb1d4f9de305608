// Calls functions of a program and answers with their values on descriptor 3 (frames as in sandbox/child/report.py,
// values as in sandbox/values.py). It never sees what is expected.
"use strict";
{
  const fs = require("fs");
  const path = require("path");
  const vm = require("vm");
  const write = fs.writeSync, stringify = JSON.stringify, concat = Buffer.concat, from = Buffer.from, alloc = Buffer.alloc;
  const job = JSON.parse(fs.readFileSync("calls.json", "utf8"));
  const deepest = 200, most = 1000000;

  function send(text) {
    const body = from(text), head = alloc(4);
    head.writeUInt32BE(body.length);
    for (let left = concat([head, body]); left.length; ) left = left.subarray(write(3, left));
  }

  // A string in ASCII, so that lone surrogates arrive as they are.
  const quoted = (text) =>
    stringify(text).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  const received = (value) => {
    if (Array.isArray(value)) return value.map(received);
    if (value === null || typeof value !== "object") return value;
    if ("i" in value) return value.i[0] === "-" ? -BigInt("0x" + value.i.slice(1)) : BigInt("0x" + value.i);
    return Object.fromEntries(Object.entries(value.d).map(([key, item]) => [key, received(item)]));
  };

  function encoded(value, depth, count) {
    if (depth > deepest || ++count.items > most) throw new Error("the value is too deep or too large");
    switch (typeof value) {
      case "undefined": return "null";
      case "boolean": return value ? "true" : "false";
      case "string": return quoted(value);
      case "bigint": {
        const hex = (value < 0n ? -value : value).toString(16);
        return value >= -(2n ** 63n) && value < 2n ** 63n ? String(value) : `{"i":"${value < 0n ? "-" : ""}${hex}"}`;
      }
      case "number":
        if (Object.is(value, -0)) return "-0.0";
        return Number.isSafeInteger(value) ? String(value) : /^-?\d+$/.test(String(value)) ? `${value}.0` : String(value);
      case "object": break;
      default: throw new Error(`a ${typeof value} is not plain data`);
    }
    if (value === null) return "null";
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      return "[" + Array.from(value, (item) => encoded(item, depth + 1, count)).join(",") + "]";
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype) {
      const name = prototype.constructor && prototype.constructor.name;
      throw new Error(`a ${typeof name === "string" ? name.slice(0, 80) : "value"} is not plain data`);
    }
    const items = Object.keys(value).map((key) => quoted(key) + ":" + encoded(value[key], depth + 1, count));
    return '{"d":{' + items.join(",") + "}}";
  }

  const words = (error) => {
    let text;
    try { text = error instanceof Error ? `${error.name}: ${error.message}` : String(error); } catch { text = "an error"; }
    return quoted(text.slice(0, 500));
  };

  function found(name) {
    const exported = module.exports;
    const named = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
    const own = named && vm.runInThisContext(`typeof ${name} === "function" ? ${name} : undefined`);
    if (own) return own;
    if (exported && typeof exported[name] === "function") return exported[name].bind(exported);
    if (typeof exported === "function" && exported.name === name) return exported;
    const solution = vm.runInThisContext('typeof Solution === "function" ? Solution : undefined');
    const made = solution && new solution();
    if (made && typeof made[name] === "function") return made[name].bind(made);
    throw new Error(`the program defines no function ${name}`);
  }

  async function main() {
    try {
      Object.assign(globalThis, { require, module, exports: module.exports, __filename: path.resolve(job.source), __dirname: process.cwd() });
      if (job.source.endsWith(".mjs")) Object.assign(module.exports, await import(path.resolve(job.source)));
      else {
        if (job.setup) vm.runInThisContext(job.setup, { filename: "setup.js" });
        vm.runInThisContext(fs.readFileSync(job.source, "utf8"), { filename: job.source });
      }
      found(job.entry_point);
    } catch (error) {
      console.error(error);
      send(`{"error":${words(error)}}`);
      process.exit(1);
    }
    for (const [index, args] of job.calls.entries()) {
      let answer;
      try {
        const value = await found(job.entry_point)(...args.map(received));
        try { answer = `"value":${encoded(value, 0, { items: 0 })}`; }
        catch (error) { answer = `"not_plain":${words(error)}`; }
      } catch (error) { answer = `"error":${words(error)}`; }
      send(`{"index":${index},${answer}}`);
    }
  }

  main();
}
