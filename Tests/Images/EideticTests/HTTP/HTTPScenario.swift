import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// A table row: the responses of two origins, the loads in their order, and the requests that must arrive.
struct HTTPScenario: Sendable, CustomTestStringConvertible {
    /// A response of an origin.
    struct Answer: Sendable {
        var status = 200
        var fields: [(String, String)] = []
        /// The width of the image; `nil` for a response without a body.
        var width: Int?

        /// Creates a response from lines `Name: value`; `$other` stands for the URL of the other origin.
        init(_ status: Int, _ lines: [String] = [], width: Int? = nil) {
            (self.status, self.width) = (status, width)
            fields = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                return (parts[0], String(parts[1].drop(while: \.isWhitespace)))
            }
        }
    }

    /// A step of the scenario.
    enum Step: Sendable {
        /// Loads a path with these header fields and options, and expects `source width`, the code of an error, or
        /// `remembered`.
        case load(String, fields: HTTPHeaders = [:], options: ImageOptions = [], String)
        /// Advances all clocks.
        case advance(Int)
        /// Makes the origins unreachable.
        case disconnect
        /// Continues with a pipeline without memory, over the same directory; its downloader adds these fields.
        case restart(adding: HTTPHeaders = [:])
        /// Waits until this number of requests has arrived and no load is active.
        case waitForRequests(Int)
        /// Sets the value of the field `X-Hook` that a request modifier adds from now on.
        case hook(String)
    }

    let name: String
    /// The responses by path, in their order; the last one is repeated.
    ///
    /// Paths that begin with `/o` are of the other origin.
    var answers: [String: [Answer]] = [:]
    var steps: [Step] = []
    /// The requests that must arrive: the path, and those of the ``watchedFields`` that they have.
    var requests: [String] = []
    /// The maximum age of the disk cache, in seconds.
    var maximumAge = 7 * 86_400
    /// The time in seconds that passes while a request waits for its response.
    var delay = 0

    var testDescription: String { name }

    /// The fields that ``requests`` states.
    static let watchedFields = ["if-none-match", "if-modified-since", "cache-control", "authorization", "x-hook"]

    /// Performs the steps, and checks the results and the requests.
    func run(location: SourceLocation = #_sourceLocation) async throws {
        let context = try HTTPScenarioContext(self)
        for (index, step) in steps.enumerated() {
            let result = try await context.perform(step)
            guard let (actual, expected) = result else { continue }
            #expect(actual == expected, "step \(index + 1)", sourceLocation: location)
        }
        #expect(context.requests == requests, sourceLocation: location)
    }
}

/// The parts of a running scenario.
final class HTTPScenarioContext {
    private let scenario: HTTPScenario
    private let directory: TemporaryDirectory
    private let time = ManualTime(now: SystemTime().now)
    private let state = HTTPScenarioState()
    private let origins: [ScriptedOrigin]
    private var pipeline: ImagePipeline?

    init(_ scenario: HTTPScenario) throws {
        self.scenario = scenario
        directory = try TemporaryDirectory(named: "http")
        let time = time, state = state
        let script: ScriptedOrigin.Script = { request in
            let fields = HTTPScenario.watchedFields.compactMap { name in
                request.headers[name].map { " \(name)=\($0)" }
            }
            let index = state.record(request.path, line: request.path + fields.joined())
            if scenario.delay > 0 { time.advance(by: .seconds(scenario.delay)) }
            let answers = scenario.answers[request.path] ?? []
            guard !answers.isEmpty else { return [.response(500)] }
            return Self.steps(for: answers[min(index, answers.count - 1)], other: state.other)
        }
        origins = [try ScriptedOrigin(script: script), try ScriptedOrigin(script: script)]
        state.other = origins[1].url
        pipeline = try makePipeline(adding: [:])
    }

    var requests: [String] { state.requests }

    private static func steps(for answer: HTTPScenario.Answer, other: String) -> [ScriptedOrigin.Step] {
        let body = answer.width.flatMap { try? TestImage.png(width: $0, height: 6) } ?? []
        var head = "HTTP/1.1 \(answer.status) Status\r\n"
        for (name, value) in answer.fields {
            let parts = value.split(separator: "$other", omittingEmptySubsequences: false)
            head += "\(name): \(parts.joined(separator: other))\r\n"
        }
        if answer.status != 304 { head += "Content-Length: \(body.count)\r\n" }
        return [.send(Array((head + "\r\n").utf8) + body)]
    }

    private func makePipeline(adding fields: HTTPHeaders) throws -> ImagePipeline {
        var diskConfiguration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        diskConfiguration.maximumAge = .seconds(scenario.maximumAge)
        let disk = try DiskCache(diskConfiguration, fileSystem: FileSystem(), time: time)
        var downloads = ImagePipeline.Configuration().downloads
        downloads.time = time
        downloads.observesNetwork = false
        downloads.headers = downloads.headers.merging(fields)
        if scenario.steps.contains(where: { if case .hook = $0 { true } else { false } }) {
            downloads.requestModifier = { [state] request in
                var request = request
                request.headers["X-Hook"] = state.hook
                return request
            }
        }
        var configuration = ImagePipeline.Configuration(diskCache: disk, downloader: Downloader(downloads))
        configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(16), time: time)
        configuration.freshness = .http
        return ImagePipeline(configuration)
    }

    /// Performs a step.
    ///
    /// - Returns: The result and the expected one, if the step has one.
    func perform(_ step: HTTPScenario.Step) async throws -> (String, String)? {
        switch step {
        case .advance(let seconds): time.advance(by: .seconds(seconds))
        case .disconnect: for origin in origins { origin.stop() }
        case .restart(let fields): pipeline = try makePipeline(adding: fields)
        case .waitForRequests(let count):
            try await eventually("the requests are made and the pipeline is idle") {
                requests.count >= count && pipeline?.isIdle == true
            }
        case .hook(let value): state.hook = value
        case .load(let path, let fields, let options, let expected):
            return (try await load(path, fields: fields, options: options), expected)
        }
        return nil
    }

    private func load(_ path: String, fields: HTTPHeaders, options: ImageOptions) async throws -> String {
        guard let pipeline else { return "no pipeline" }
        let url = (path.hasPrefix("/o") ? origins[1].url : origins[0].url) + path
        var fetchRequest = try FetchRequest(url: url)
        fetchRequest.headers = fields
        let request = ImageRequest(.remote(fetchRequest), options: options, cachePolicy: .afterStorage)
        let result: String
        do throws(EideticError) {
            let response = try await pipeline.response(for: request)
            result = "\(response.source) \(response.image.size.width)"
        } catch {
            result = error.isRemembered ? "remembered" : "\(error.code)"
        }
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        return result
    }
}

/// The state that a scenario shares with its origins.
private final class HTTPScenarioState: Sendable {
    private struct State {
        var requests: [String] = []
        var counts: [String: Int] = [:]
        var other = "", hook = ""
    }

    private let state = Guarded(State())

    var requests: [String] { state.withLock { $0.requests } }

    /// The URL of the other origin.
    var other: String {
        get { state.withLock { $0.other } }
        set { state.withLock { $0.other = newValue } }
    }

    /// The value of the field that the request modifier adds.
    var hook: String {
        get { state.withLock { $0.hook } }
        set { state.withLock { $0.hook = newValue } }
    }

    /// Records a request; returns the number of earlier ones for the same path.
    func record(_ path: String, line: String) -> Int {
        state.withLock { state in
            state.requests.append(line)
            defer { state.counts[path, default: 0] += 1 }
            return state.counts[path, default: 0]
        }
    }
}
