import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

/// Compares the table of docs/threat-model.md with a process that has decoded an image.
@Suite("the threat model", .timeLimit(.minutes(1)))
struct ThreatModelTests {
    /// The values of the table, by their names.
    private static func table() throws -> [String: String] {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let text = String(decoding: try FileSystem().contents(of: "\(root)/docs/threat-model.md"), as: UTF8.self)
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let parts = line.split(separator: "`", omittingEmptySubsequences: false)
            if parts.count > 3 { values[String(parts[1])] = String(parts[3]) }
        }
        return values
    }

    private static func file(_ name: String, of process: Int32) throws -> String {
        String(decoding: try FileSystem().contents(of: "/proc/\(process)/\(name)"), as: UTF8.self)
    }

    /// Returns the fields of lines such as `Seccomp:  2`.
    private static func fields(of text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = parts[1].filter { !$0.isWhitespace } }
        }
        return fields
    }

    /// Returns the values of a limit, soft and hard.
    private static func limit(_ name: String, of process: Int32) throws -> String? {
        let line = try file("limits", of: process).split(separator: "\n").first { $0.hasPrefix(name) }
        return line.map { $0.dropFirst(name.count).split(separator: " ").prefix(2).joined(separator: " ") }
    }

    private static func descriptors(of process: Int32) throws -> String {
        let directory = "/proc/\(process)/fd"
        return try FileSystem().entryNames(in: directory).sorted().map { number in
            let target = try FileSystem().linkTarget(of: "\(directory)/\(number)")
            return "\(number) \(target.split(separator: ":")[0])"
        }.joined(separator: ", ")
    }

    /// Returns the names of the namespaces that the application is not in.
    private static func namespaces(of process: Int32) throws -> String {
        try FileSystem().entryNames(in: "/proc/\(process)/ns").sorted().filter { name in
            try FileSystem().linkTarget(of: "/proc/\(process)/ns/\(name)")
                != FileSystem().linkTarget(of: "/proc/self/ns/\(name)")
        }.joined(separator: ", ")
    }

    private static func mounts(of process: Int32) throws -> String {
        try file("mounts", of: process).split(separator: "\n").map { line in
            line.split(separator: " ").dropFirst().prefix(2).joined(separator: " ")
        }.joined(separator: ", ")
    }

    @Test("F07 a decoding process is restricted as docs/threat-model.md says, on a system that allows it")
    func process() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }
        _ = try pool.image(try Samples.png(4, 4))
        let process = try #require(pool.idleIdentifiers.first)
        let status = Self.fields(of: try Self.file("status", of: process))
        let own = Self.fields(of: try Self.file("status", of: getpid()))
        var seen: [String: String] = [:]
        for name in ["Seccomp", "NoNewPrivs", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            seen[name] = status[name]
        }
        // A container may have filters of its own.
        let filters = [status, own].compactMap { $0["Seccomp_filters"].flatMap { Int($0) } }
        if filters.count == 2 { seen["Seccomp_filters"] = "\(filters[0] - filters[1])" }
        for name in ["Max core file size", "Max open files"] { seen[name] = try Self.limit(name, of: process) }
        seen["fd"] = try Self.descriptors(of: process)
        // Where libraries are, and the settings of sanitizers, are those of whoever runs the tests.
        let variables = try Self.file("environ", of: process).split(separator: "\0").map { $0.prefix { $0 != "=" } }
        seen["environ"] = variables.filter { $0 != "LD_LIBRARY_PATH" && !$0.hasSuffix("SAN_OPTIONS") }.sorted()
            .joined(separator: ", ")
        seen["ns"] = try Self.namespaces(of: process)
        seen["mounts"] = try Self.mounts(of: process)
        let applied = try pool.description().restrictions, names = HelperRestrictions.names
        seen["restrictions"] = names.filter { applied.contains($0.restriction) }.map(\.name).joined(separator: ", ")
        let expected = try Self.table()
        #expect(Set(expected.keys) == Set(seen.keys))
        // What the system refuses is missing, and reported; nothing else may differ.
        guard names.allSatisfy({ applied.contains($0.restriction) }) else { return }
        for (name, value) in expected { #expect(seen[name] == value, "\(name)") }
    }
}
