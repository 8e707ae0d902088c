#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// One thousand widgets are each given A, then B, and A is slower: B is seen, and A was cancelled before B came.
    ///
    /// In between they are cancelled, die and are given A again, in every order.
    static func reuse(_ stage: Stage) async throws {
        _ = try stage.putSlow("a.png")
        _ = try stage.put("b.png", .blue, width: 20, height: 20)
        await stage.present()
        let cells = (0..<1_000).map { ReusedCell(stage, $0) }
        for cell in cells { cell.set("a") }
        for (index, cell) in cells.enumerated() {
            if index % 11 == 0 { await stage.frames(1) }
            cell.disturb()
            cell.set("b")
        }
        await stage.until("all ends") { cells.allSatisfy(\.isOver) }
        for cell in cells { cell.check() }
        let wrong = cells.filter { !$0.isRight }
        stage.expect(wrong.isEmpty, "\(wrong.count) wrong, as \(wrong.first?.report ?? "")")
        let reds = cells.reduce(0) { $0 + $1.reds }
        stage.expect(reds == 0, "A was seen \(reds) times after B was asked for")
    }
}

/// A widget that is used again.
@MainActor
private final class ReusedCell {
    private let stage: Stage
    private let number: Int
    private var widget: Widget
    private var asked: [String] = []
    private var ends: [String] = []
    private var wanted: String?
    private(set) var reds = 0

    init(_ stage: Stage, _ number: Int) {
        self.stage = stage
        self.number = number
        widget = Widget(gtk_picture_new())
        stage.add(widget.pointer, 20, 20)
    }

    func set(_ name: String) {
        let load = "\(name)\(asked.count)"
        asked.append(load)
        wanted = name
        ImageWidget(widget.pointer, pipeline: stage.pipeline)
            .setImage("\(stage.server.url)/\(name)/\(number).png", size: PixelSize(width: 40, height: 40)) { [self] in
                switch $0 {
                case .success:
                    ends.append("\(load) shown")
                    if wanted == "b", name == "a" { reds += 1 }
                case .failure(let error): ends.append("\(load) \(error.code)")
                }
            }
    }

    /// What happens between A and B.
    func disturb() {
        for disturbance in Disturbance.orders[number % Disturbance.orders.count] {
            switch disturbance {
            case .cancel: ImageWidget(widget.pointer, pipeline: stage.pipeline).cancel()
            case .death:
                stage.remove(widget.pointer)
                widget = Widget(gtk_picture_new())
                stage.add(widget.pointer, 20, 20)
            case .reuse: set("a")
            }
        }
    }

    var isOver: Bool { ends.count == asked.count }

    func check() {
        let expected = asked.dropLast().map { "\($0) cancelled" } + [asked.last.map { "\($0) shown" } ?? ""]
        let paintable = gtk_picture_get_paintable(OpaquePointer(widget.pointer))
        isRight = ends == expected && gdk_paintable_get_intrinsic_width(paintable) == 20
    }

    private(set) var isRight = false
    var report: String { "\(number): \(asked) ended \(ends)" }
}

/// What may happen to a widget while it loads.
private enum Disturbance: CaseIterable {
    case cancel, death, reuse

    /// Every choice of them in every order: 16, from none to all three.
    static let orders: [[Disturbance]] = {
        var orders: [[Disturbance]] = [[]]
        var next = 0
        while next < orders.count {
            let order = orders[next]
            orders += allCases.filter { !order.contains($0) }.map { order + [$0] }
            next += 1
        }
        return orders
    }()
}
#endif
