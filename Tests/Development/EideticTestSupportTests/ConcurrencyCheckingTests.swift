import EideticCore
import Testing

/// What the compiler checks is decided by the manifest and by attributes in sources.
@Suite("Concurrency checking")
struct ConcurrencyCheckingTests {
    private static let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
    /// Settings and attributes by which a target or a declaration evades the checks.
    private static let exemptions = [
        "swiftLanguageMode(", "swiftLanguageVersions", "-swift-version", "-strict-concurrency", "-disable-",
        "@preconcurrency", "@_unsafeInheritExecutor", "@unsafe ",
    ]

    private static func text(of path: String) throws -> String {
        String(decoding: try FileSystem().contents(of: "\(root)/\(path)"), as: UTF8.self)
    }

    private static func exemptions(in text: String) -> [String] { exemptions.filter(text.contains) }

    /// Returns the declarations of Swift targets in a manifest that do not have the common settings.
    private static func targetsWithOtherSettings(in manifest: String) -> [String] {
        let kinds = [".target(", "return .target(", ".executableTarget(", ".testTarget("]
        var targets: [String] = []
        // The indentation of the declaration that is read.
        var declaration: Int?
        for line in manifest.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            let indentation = line.count - text.count
            if kinds.contains(where: text.hasPrefix) {
                targets.append(String(text))
                declaration = text.hasSuffix("(") ? indentation : nil
            } else if declaration != nil {
                targets[targets.count - 1] += text
                if indentation == declaration { declaration = nil }
            }
        }
        // A target of C has no Swift settings.
        return targets.filter { target in
            !target.contains("cSettings: ") && !target.contains("swiftSettings: strict")
                && !target.contains("swiftSettings: swiftSettings")
        }
    }

    @Test("L21 every target is compiled in the mode of Swift 6, with the same settings")
    func manifest() throws {
        let manifest = try Self.text(of: "Package.swift")
        #expect(manifest.contains("\n    swiftLanguageModes: [.v6]\n"))
        #expect(Self.exemptions(in: manifest).isEmpty)
        #expect(Self.targetsWithOtherSettings(in: manifest).isEmpty)
        #expect(manifest.contains("\nlet swiftSettings = strict + "))
        let weaker = manifest.replacing("swiftSettings: swiftSettings", with: "sources: []", maxReplacements: 1)
        #expect(Self.targetsWithOtherSettings(in: weaker).count == 1)
    }

    @Test("L21 no source is exempt from the checks", arguments: ["Sources", "Examples", "Snippets"])
    func sources(directory: String) throws {
        var count = 0
        for path in try Self.swiftFiles(in: directory) {
            count += 1
            #expect(Self.exemptions(in: try Self.text(of: path)).isEmpty, "\(path)")
        }
        #expect(count > 1)
    }

    private static func swiftFiles(in directory: String) throws -> [String] {
        let files = FileSystem()
        return try files.entryNames(in: "\(root)/\(directory)").flatMap { name -> [String] in
            let path = "\(directory)/\(name)"
            if name.hasSuffix(".swift") { return [path] }
            return try files.status(of: "\(root)/\(path)").kind == .directory ? try swiftFiles(in: path) : []
        }
    }
}
