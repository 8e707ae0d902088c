#if GTK
import EideticCore
import EideticTestSupport
import Testing

/// A screen reader, which reads a program's widgets over the bus of the assistive technologies (AT-SPI).
final class ScreenReader {
    /// An accessible widget.
    struct Item {
        let path: String
        let parent: String
        let name: String
        /// The first 32 of AT-SPI's states.
        let states: Int

        /// A Boolean value indicating whether a user who meets the widget hears what it is.
        var isNamed: Bool { !isFocusable || !name.isEmpty && !name.hasPrefix("Gtk") }
        var isFocusable: Bool { states >> 11 & 1 == 1 }
        var isFocused: Bool { states >> 12 & 1 == 1 }
        var isShowing: Bool { states >> 25 & 1 == 1 }
    }

    private let bus: String
    private let program: String
    private var onlyWindow: Item?
    private static let root = "/org/a11y/atspi/accessible/root"
    private static let accessible = "org.a11y.atspi.Accessible"

    /// Finds the only program on a session bus.
    init(sessionBus session: String) async throws {
        let reply = try await Self.busctl(
            bus: session,
            arguments: "call",
            "org.a11y.Bus",
            "/org/a11y/bus",
            "org.a11y.Bus",
            "GetAddress"
        )
        bus = try #require(reply.quoted.first)
        program = try await Self.program(on: bus)
    }

    /// Waits for the program, which enters the bus at some time after its start, and returns its name.
    private static func program(on bus: String) async throws -> String {
        let call = ["call", "org.a11y.atspi.Registry", root, accessible, "GetChildren"]
        let programs = try await eventually(
            "the program is on the bus",
            value: { try await busctl(bus: bus, arguments: call) },
            until: { $0.quoted.first != nil }
        )
        return try #require(programs.quoted.first)
    }

    /// Returns all widgets.
    func items() async throws -> [Item] {
        // Requesting the children creates their accessible objects; a widget may disappear meanwhile.
        var unseen = [Self.root]
        while let path = unseen.popLast() {
            let reply = try? await call(path, interface: Self.accessible, method: "GetChildren")
            unseen += reply?.quoted.filter { $0.hasPrefix("/") } ?? []
        }
        let cache = ["-j", "call", program, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems"]
        let reply = try await Subprocess.run("busctl", arguments: ["--address=\(bus)"] + cache)
        let filter = ".data[0][] | [.[0][1], .[2][1], .[6], (.[9][0] | tostring)] | join(\"\\t\")"
        let lines = try await Subprocess.run("jq", arguments: ["-r", filter], input: reply.output)
        return lines.outputText.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4, let states = Int(fields[3]) else { return nil }
            return Item(path: fields[0], parent: fields[1], name: fields[2], states: states)
        }
    }

    /// Returns the only window, which is looked for once.
    func window() async throws -> Item {
        if let onlyWindow { return onlyWindow }
        let window = try #require(try await items().first { $0.parent == Self.root })
        onlyWindow = window
        return window
    }

    /// Returns the widgets with a name.
    func items(named name: String) async throws -> [Item] { try await items().filter { $0.name == name } }

    /// Returns the current name of a widget.
    func name(of item: Item) async throws -> String {
        try await Self.busctl(bus: bus, arguments: "get-property", program, item.path, Self.accessible, "Name").quoted
            .first ?? ""
    }

    /// Returns the area of a widget within its window.
    func area(of item: Item) async throws -> (x: Int, y: Int, width: Int, height: Int) {
        let reply = try await call(
            item.path,
            interface: "org.a11y.atspi.Component",
            method: "GetExtents",
            arguments: "u",
            "1"
        )
        let numbers = reply.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 4, "\(reply)")
        return (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    /// Presses the button with a name.
    func press(_ name: String) async throws {
        try await press(try #require(try await items(named: name).first(where: \.isFocusable), "no button \(name)"))
    }

    /// Presses a button.
    func press(_ item: Item) async throws {
        _ = try await call(item.path, interface: "org.a11y.atspi.Action", method: "DoAction", arguments: "i", "0")
    }

    private func call(_ path: String, interface: String, method: String, arguments: String...) async throws
        -> String
    {
        try await Self.busctl(bus: bus, arguments: ["call", program, path, interface, method] + arguments)
    }

    private static func busctl(bus: String, arguments: String...) async throws -> String {
        try await busctl(bus: bus, arguments: arguments)
    }

    private static func busctl(bus: String, arguments: [String]) async throws -> String {
        let result = try await Subprocess.run("busctl", arguments: ["--address=\(bus)"] + arguments)
        guard result.status == .exited(0) else {
            throw EideticError(.corrupt, message: "\(arguments): \(result.errorText)")
        }
        return result.outputText
    }
}

extension String {
    /// The quoted strings in a reply of busctl.
    fileprivate var quoted: [String] {
        split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }
}
#endif
