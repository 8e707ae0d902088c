import Eidetic
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The table of the standard's requirements, and its page in the documentation.
@Suite("HTTP: table of the standards")
struct StandardTableTests {
    /// The root of the repository.
    private static let root = #filePath.split(separator: "/").dropLast(5).map { "/" + $0 }.joined()

    private func text(of path: String) throws -> String {
        String(decoding: try FileSystem().contents(of: "\(Self.root)/\(path)"), as: UTF8.self)
    }

    private var page: String {
        var lines = [
            "# HTTP caching", "",
            "Eidetic's behaviour for each requirement (MUST or SHOULD) of RFC 9111 that concerns a private cache, with",
            "`Configuration.freshness = .http`. Section numbers refer to RFC 9111 unless another document is named. Rows in",
            "parentheses are not requirements. The last column names the scenario in `Tests/Images/EideticTests/HTTP`, or the",
            "unit test, that verifies the row. This page is generated from `StandardTable.swift`, and a test compares the two;",
            "run it with `EIDETIC_UPDATE=1` to write the page.", "",
            "| section | requirement | Eidetic | shown by |", "|---|---|---|---|",
        ]
        for row in StandardTable.rows {
            lines.append("| \(row.section) | \(row.requirement) | \(row.conduct) | \(row.proof) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("C20 each requirement of the standards names a scenario or a test that exists")
    func proofs() throws {
        let scenarios = Set(StandardScenarios.all.map(\.name))
        #expect(scenarios.count == StandardScenarios.all.count)
        var sources = ""
        for directory in ["Tests/Images/EideticHTTPTests", "Tests/Images/EideticFetchTests"] {
            for name in try FileSystem().entryNames(in: "\(Self.root)/\(directory)") where name.hasSuffix(".swift") {
                sources += try text(of: "\(directory)/\(name)")
            }
        }
        for row in StandardTable.rows where !row.proof.isEmpty && !scenarios.contains(row.proof) {
            let parts = sources.split(separator: row.proof, maxSplits: 1)
            #expect(parts.count == 2, "\(row.proof)")
        }
    }

    @Test("C20 the page of the documentation is that of the table")
    func documentation() throws {
        let path = "docs/http-caching.md"
        if getenv("EIDETIC_UPDATE") != nil {
            try FileSystem().replaceContents(of: "\(Self.root)/\(path)", with: Array(page.utf8), mode: 0o644)
        }
        #expect(try text(of: path) == page)
    }
}
