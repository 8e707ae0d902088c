import EideticTestSupport

/// The built program, in the directory of the test executable.
enum EideticProgram {
    /// The path of the executable file.
    static let path = BuiltProgram.path(of: "eidetic")

    /// Runs the program until it exits.
    static func run(
        _ arguments: String...,
        input: [UInt8] = [],
        environment: [String: String?] = [:]
    ) async throws -> Subprocess.Result {
        try await Subprocess.run(path, arguments: arguments, environment: environment, input: input)
    }

    /// Loads with a cache in a directory, in which the program runs.
    static func load(
        _ words: [String],
        in directory: TemporaryDirectory,
        input: [UInt8] = []
    ) async throws -> Subprocess.Result {
        let words = ["load", "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(path, arguments: words, directory: directory.path, input: input)
    }
}

/// A server, and a directory in which the program loads.
struct LoadFixture {
    let directory: TemporaryDirectory
    let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "load")
        server = try await Nginx()
    }
}

protocol LoadingTests {
    var fixture: LoadFixture { get }
}

extension LoadingTests {
    var directory: TemporaryDirectory { fixture.directory }
    var server: Nginx { fixture.server }

    func load(_ words: [String], input: [UInt8] = []) async throws -> Subprocess.Result {
        try await EideticProgram.load(words, in: directory, input: input)
    }
}
