#if GTK
import EideticCore
import EideticTestSupport
import Testing

/// Reads a program's widgets as a screen reader does: over the bus of the assistive technologies (AT-SPI).
final class ScreenReader {
    /// A widget as it is told to people who do not see it.
    struct Item {
        let path: String
        let parent: String
        let name: String
        /// The first 32 of AT-SPI's states.
        let states: Int

        var isFocusable: Bool { states >> 11 & 1 == 1 }
        var isFocused: Bool { states >> 12 & 1 == 1 }
    }

    private let bus: String
    private let program: String
    private static let root = "/org/a11y/atspi/accessible/root"
    private static let accessible = "org.a11y.atspi.Accessible"

    /// Finds the only program on the bus of a session.
    init(_ session: String) async throws {
        let answer = try await Self.busctl(
            session,
            "call",
            "org.a11y.Bus",
            "/org/a11y/bus",
            "org.a11y.Bus",
            "GetAddress"
        )
        bus = try #require(answer.quoted.first)
        let registry = "org.a11y.atspi.Registry"
        let programs = try await Self.busctl(bus, "call", registry, Self.root, Self.accessible, "GetChildren")
        program = try #require(programs.quoted.first, "the program is not there: \(programs)")
    }

    /// All widgets.
    func items() async throws -> [Item] {
        // Asking for the children makes them known; a widget may go meanwhile.
        var unseen = [Self.root]
        while let path = unseen.popLast() {
            let answer = try? await call(path, Self.accessible, "GetChildren")
            unseen += answer?.quoted.filter { $0.hasPrefix("/") } ?? []
        }
        let cache = ["-j", "call", program, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems"]
        let answer = try await Subprocess.run("busctl", arguments: ["--address=\(bus)"] + cache)
        let filter = ".data[0][] | [.[0][1], .[2][1], .[6], (.[9][0] | tostring)] | join(\"\\t\")"
        let lines = try await Subprocess.run("jq", arguments: ["-r", filter], input: answer.output)
        return lines.outputText.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4, let states = Int(fields[3]) else { return nil }
            return Item(path: fields[0], parent: fields[1], name: fields[2], states: states)
        }
    }

    /// The only window.
    func window() async throws -> Item { try #require(try await items().first { $0.parent == Self.root }) }

    /// The widgets with a name.
    func items(_ name: String) async throws -> [Item] { try await items().filter { $0.name == name } }

    /// The name of a widget now.
    func name(of item: Item) async throws -> String {
        try await Self.busctl(bus, "get-property", program, item.path, Self.accessible, "Name").quoted.first ?? ""
    }

    /// Where a widget is within its window.
    func area(of item: Item) async throws -> (x: Int, y: Int, width: Int, height: Int) {
        let answer = try await call(item.path, "org.a11y.atspi.Component", "GetExtents", "u", "1")
        let numbers = answer.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 4, "\(answer)")
        return (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    /// Does what a click on the button with a name does.
    func press(_ name: String) async throws {
        let item = try #require(try await items(name).first(where: \.isFocusable), "no button \(name)")
        _ = try await call(item.path, "org.a11y.atspi.Action", "DoAction", "i", "0")
    }

    private func call(_ path: String, _ interface: String, _ method: String, _ arguments: String...) async throws
        -> String
    {
        try await Self.busctl(bus, ["call", program, path, interface, method] + arguments)
    }

    private static func busctl(_ bus: String, _ arguments: String...) async throws -> String {
        try await busctl(bus, arguments)
    }

    private static func busctl(_ bus: String, _ arguments: [String]) async throws -> String {
        let result = try await Subprocess.run("busctl", arguments: ["--address=\(bus)"] + arguments)
        guard result.status == .exited(0) else {
            throw EideticError(.corrupt, message: "\(arguments): \(result.errorText)")
        }
        return result.outputText
    }
}

extension String {
    /// The strings in an answer of busctl.
    fileprivate var quoted: [String] {
        split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }
}
#endif
