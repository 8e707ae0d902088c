#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport

extension Scenes {
    /// Loads A, then B into each of 250 widgets; A is slower: B is shown, and A is cancelled before B arrives.
    ///
    /// In between, the loads are cancelled, the widgets die, and A is loaded again, in every order.
    static func reuse(_ stage: Stage) async throws {
        _ = try stage.serveSlow("a.png")
        _ = try stage.serve("b.png", colour: .blue, width: 20, height: 20)
        await stage.present()
        let cells = (0..<Torture.repetitions(250, full: 1_000)).map { ReusedCell(stage: stage, number: $0) }
        for cell in cells { cell.setImage(named: "a") }
        for (index, cell) in cells.enumerated() {
            if index % 11 == 0 { await stage.waitForFrames(1) }
            cell.disturb()
            cell.setImage(named: "b")
        }
        await stage.wait(for: "the end of all loads") { cells.allSatisfy(\.isFinished) }
        for cell in cells { cell.check() }
        let failed = cells.filter { !$0.isCorrect }
        stage.expect(failed.isEmpty, otherwise: "\(failed.count) wrong, for example \(failed.first?.report ?? "")")
        let staleCount = cells.reduce(0) { $0 + $1.staleCount }
        stage.expect(staleCount, is: 0, "images A after B was requested")
    }
}

/// A widget that loads several images one after the other.
@MainActor
private final class ReusedCell {
    private let stage: Stage
    private let number: Int
    private var widget: Widget
    private var loads: [String] = []
    private var results: [String] = []
    private var latestName: String?
    private(set) var staleCount = 0

    init(stage: Stage, number: Int) {
        self.stage = stage
        self.number = number
        widget = Widget(gtk_picture_new())
        stage.add(widget.pointer, width: 20, height: 20)
    }

    func setImage(named name: String) {
        let load = "\(name)\(loads.count)"
        loads.append(load)
        latestName = name
        let side = PixelSize(width: 40, height: 40)
        ImageWidget(widget.pointer, pipeline: stage.pipeline)
            .setImage(ImageRequest("\(stage.server.url)/\(name)/\(number).png", size: side)) { [self] in
                switch $0 {
                case .success:
                    results.append("\(load) shown")
                    if latestName == "b", name == "a" { staleCount += 1 }
                case .failure(let error): results.append("\(load) \(error.code)")
                }
            }
    }

    /// Performs the disturbances between A and B.
    func disturb() {
        for disturbance in Disturbance.orders[number % Disturbance.orders.count] {
            switch disturbance {
            case .cancel: ImageWidget(widget.pointer, pipeline: stage.pipeline).cancel()
            case .death:
                stage.remove(widget.pointer)
                widget = Widget(gtk_picture_new())
                stage.add(widget.pointer, width: 20, height: 20)
            case .reuse: setImage(named: "a")
            }
        }
    }

    var isFinished: Bool { results.count == loads.count }

    func check() {
        let expected = loads.dropLast().map { "\($0) cancelled" } + [loads.last.map { "\($0) shown" } ?? ""]
        let paintable = gtk_picture_get_paintable(OpaquePointer(widget.pointer))
        isCorrect = results == expected && gdk_paintable_get_intrinsic_width(paintable) == 20
    }

    private(set) var isCorrect = false
    var report: String { "\(number): \(loads) ended \(results)" }
}

/// A disturbance of a widget during its load.
private enum Disturbance: CaseIterable {
    case cancel, death, reuse

    /// The 16 orders of every subset of the disturbances.
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
