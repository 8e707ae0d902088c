// Runs the public tests of HTTP caches (https://github.com/http-tests/cache-tests) against a pipeline with HTTP freshness.
//
//     script/test --http-suite CHECKOUT [--only ID] [--forget] [--out FILE]
//
// The suite's own origin answers and its own client judges; in between, the client's `fetch` is `eidetic-probe http-suite`.
// A body is an image of one pixel, whose red is the number of the response. Tests of what no caller of a private cache of
// images can see are left out, and counted.
//
//     --only ID    one test, with the details of its loads
//     --forget     memory is emptied before each load, so that the disk is tested
//     --out FILE   the results as JSON
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values: flags, positionals: [checkout, probe] } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, forget: { type: 'boolean' }, out: { type: 'string' } }
})
const part = name => import(path.resolve(checkout, name))
const { setConfig, stash } = await part('test-engine/server/utils.mjs')
const { default: answerTest } = await part('test-engine/server/handle-test.mjs')
const { makeTest, testResults } = await part('test-engine/client/test.mjs')
const { setBaseUrl, setUseBrowserCache } = await part('test-engine/client/config.mjs')
const { default: suites } = await part('tests/index.mjs')

/// Returns the reason for which a test says nothing about a private cache of images; undefined where it does.
function reasonToSkip(suite, test) {
    if (test.cdn_only) return 'for CDNs'
    if (['invalidation', 'updateHEAD', 'method'].includes(suite.id)) return 'methods other than GET'
    if (suite.id === 'partial') return 'parts of a body are not delivered'
    if (suite.id === 'auth' || /s-maxage-shared|private-shared|stale-close-(proxy-revalidate|s-maxage)/.test(test.id)) {
        return 'for shared caches'
    }
    if (test.id.startsWith('status-3')) return 'redirects are followed'
    if (test.requests.some(request => request.expected_status === 304)) return 'no caller receives a 304'
    if (/^(other-age|stale-warning)-/.test(test.id)) return 'Age and Warning are for the next recipient'
}

/// Returns a test with values that are true of an image where the suite's own would be false.
function adapted(test) {
    test = structuredClone(test)
    const lists = test.requests.flatMap(each => [each.response_headers ?? [], each.expected_response_headers ?? []])
    const replace = (name, values) => {
        const fields = lists.flat().filter(field => field[0] === name)
        const known = [...new Set(fields.map(field => field[1]))]
        for (const field of fields) field[1] = values[known.indexOf(field[1])] ?? values.at(-1)
    }
    const name = test.id.match(/^(?:headers-store|304-etag-update-response)-(.*)/)?.[1]
    // The length of a 304 is that of another body, which must not replace the one that is stored.
    if (name === 'Content-Length') replace(name, [String(image(0).length), '36'])
    if (name === 'Content-Encoding') replace(name, ['gzip', 'deflate'])
    if (name === 'Transfer-Encoding') replace(name, ['chunked'])
    for (const request of test.requests) delete request.expected_interim_responses
    return test
}

/// Returns an image of one pixel; all have the same length.
function image(number) {
    const chunk = (type, data) => {
        const bytes = Buffer.concat([Buffer.from(type), data]), frame = Buffer.alloc(8)
        frame.writeUInt32BE(data.length, 0)
        frame.writeUInt32BE(zlib.crc32(bytes), 4)
        return Buffer.concat([frame.subarray(0, 4), bytes, frame.subarray(4)])
    }
    const pixels = zlib.deflateSync(Buffer.from([0, number, 0, 0]), { level: 0 })
    const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])
    const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
    return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

/// The tests that run, by their tokens: the number of the current request, and the responses so far.
const runs = new Map()

const server = http.createServer((request, response) => {
    const [, kind, token] = new URL(request.url, 'http://origin/').pathname.split('/'), run = runs.get(token)
    if (kind !== 'test' || !run) return response.writeHead(404).end()
    request.headers['req-num'] = String(run.number)
    const end = response.end.bind(response)
    response.end = text => {
        const answer = { number: run.answers.length + 1, status: response.statusCode, text: text ?? '' }
        run.answers.push(answer)
        let bytes = text === undefined ? undefined : image(answer.number)
        if (bytes) answer.digest = createHash('sha256').update(bytes).digest('hex')
        if (bytes && response.getHeader('content-type') === 'text/plain' && !run.setsType) {
            response.setHeader('Content-Type', 'image/png')
        }
        const coding = bytes && response.getHeader('content-encoding')
        if (coding === 'gzip') bytes = zlib.gzipSync(bytes)
        if (coding === 'deflate') bytes = zlib.deflateSync(bytes)
        answer.fields = response.getHeaders()
        return bytes ? end(bytes) : end()
    }
    answerTest([token], request, response)
})
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${server.address().port}`

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'eidetic-http-suite-'))
const cache = spawn(probe, ['http-suite'], { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
createInterface({ input: cache.stdout }).on('line', line => {
    const [number, ...items] = line.split('\t')
    waiting.get(number)(Object.fromEntries(items.map(item => {
        const [name, value] = item.split(/=(.*)/s)
        return [name, value.replace(/%(..)/g, (_, byte) => String.fromCharCode(parseInt(byte, 16)))]
    })))
    waiting.delete(number)
})
let lastNumber = 0
function perform(name, token, items = {}) {
    const number = String(++lastNumber)
    const words = Object.entries(items).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    cache.stdin.write([number, name, token, ...words].join('\t') + '\n')
    return new Promise(resolve => waiting.set(number, resolve))
}

globalThis.fetch = async (url, init = {}) => {
    const [, kind, token] = new URL(url).pathname.split('/')
    if (kind === 'config') return open(token, JSON.parse(init.body))
    if (kind === 'state') return { status: 200, text: async () => JSON.stringify(stash.get(token) ?? []) }
    return load(token, url, init)
}

async function open(token, requests) {
    setConfig(token, requests)
    const names = requests.flatMap(request => request.response_headers ?? []).map(field => field[0].toLowerCase())
    const run = { setsType: names.includes('content-type'), answers: [], number: 0, loads: [] }
    runs.set(token, run)
    details[requests[0].id] = run.loads
    const reply = await perform('open', token, { directory: path.join(scratch, token) })
    if (reply.fault) throw new Error(reply.fault)
    return { status: 201 }
}

async function load(token, url, init) {
    const run = runs.get(token), count = run.answers.length
    const isOwn = field => ['Test-Name', 'Test-ID', 'Req-Num'].includes(field[0])
    run.number = Number(init.headers.find(field => field[0] === 'Req-Num')[1])
    if (flags.forget && run.number > 1) await perform('forget', token)
    const fields = init.headers.filter(field => !isOwn(field)).map(field => field.join(':')).join('\n')
    const reply = await perform('load', token, { url, fields, refresh: init.cache === 'no-cache' })
    if (reply.fault) throw new Error(reply.fault)
    run.loads.push({ request: run.number, ...reply, sent: (stash.get(token) ?? []).at(-1)?.request_headers })
    let answer = run.answers.find(each => String(each.number) === reply.number), status = answer?.status
    if (reply.error) {
        // The failure is that of a response which came now, or is remembered.
        status = Number(reply.status) || 504
        answer = run.answers.findLast(each => each.status === status)
        if (run.answers.length > count && answer !== run.answers.at(-1)) answer = undefined
    }
    const entry = reply.error ? undefined : reply[`fields of ${answer?.digest}`]
    const known = Object.entries(answer?.fields ?? {}).flatMap(([name, value]) => [value].flat().map(each => [name, each]))
    const stored = entry?.split('\n').filter(Boolean).map(line => line.split(/:(.*)/s)) ?? known
    const headers = new Headers()
    for (const [name, value] of stored) headers.append(name, String(value))
    return { status, headers, text: async () => answer?.text ?? '' }
}

const details = {}, skipped = {}, chosen = []
for (const suite of suites) {
    for (const test of suite.tests.filter(test => !flags.only || test.id === flags.only)) {
        const reason = reasonToSkip(suite, test)
        if (reason) skipped[reason] = (skipped[reason] ?? 0) + 1
        else chosen.push(adapted(test))
    }
}
setBaseUrl(base)
setUseBrowserCache(true)
const queue = chosen.slice()
await Promise.all(Array.from({ length: 40 }, async () => {
    for (let test = queue.shift(); test; test = queue.shift()) await makeTest(test)
}))
cache.stdin.end()
server.close()
server.closeAllConnections()
fs.rmSync(scratch, { recursive: true, force: true })

const browsers = Object.fromEntries(['chrome', 'firefox', 'safari'].flatMap(name => {
    const file = path.resolve(checkout, `results/${name}.json`)
    return fs.existsSync(file) ? [[name, JSON.parse(fs.readFileSync(file))]] : []
}))
const results = chosen.map(test => ({
    id: test.id, kind: test.kind ?? 'required', name: test.name, isPassed: testResults[test.id] === true,
    outcome: testResults[test.id], loads: details[test.id]
}))
for (const result of results.filter(result => !result.isPassed)) {
    const others = Object.entries(browsers).filter(([, passed]) => passed[result.id] === true).map(([name]) => name)
    console.log(`${result.kind}: ${result.id}: ${[result.outcome].flat().join(': ')}` +
        (others.length ? ` (passed by ${others.join(', ')})` : ''))
    if (flags.only) console.log(JSON.stringify(result.loads, null, 2))
}
for (const [reason, count] of Object.entries(skipped)) console.log(`left out: ${count}, ${reason}`)
for (const kind of ['required', 'optimal', 'check']) {
    const all = results.filter(result => result.kind === kind)
    console.log(`${kind}: ${all.filter(result => result.isPassed).length} of ${all.length}`)
}
if (flags.out) fs.writeFileSync(flags.out, JSON.stringify(results, null, 1))
