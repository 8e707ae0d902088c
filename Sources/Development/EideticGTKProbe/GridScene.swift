#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK
import EideticTestSupport
import Glibc

extension Scenes {
    /// Scrolls through ten thousand cells at speed; each image contains its number as pixels.
    ///
    /// The server is nginx in front of an origin that takes 30 milliseconds for each response.
    static func grid(_ stage: Stage) async throws {
        let origin = try NumberedOrigin()
        let server = try await Nginx(.init(server: origin.proxy))
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = memoryLimit
        let pipeline = ImagePipeline(configuration)
        let grid = NumberedGrid(stage: stage, pipeline: pipeline, url: server.url)
        await stage.present()
        await stage.wait(for: "the first screen") { grid.cells.pendingCount == 0 && grid.visibleCells.count >= 30 }
        try await grid.checkScreen()
        MainThreadWatch.begin()
        let initialMemory = residentMemory()
        try await scrollThrough(grid, on: stage)
        try await jumpToMiddle(of: grid, origin: origin, on: stage)
        await scrollUp(grid, origin: origin, on: stage)
        let longest = MainThreadWatch.consumeLongest()
        let memoryGrowth = residentMemory() - initialMemory
        let cancelled = pipeline.statistics.cancelled
        print(
            "blocked the main thread for at most \(longest.elapsed), \(longest.processor) of it on the processor;",
            "memory grew by \(memoryGrowth); \(origin.numbers.count) requests, \(cancelled) loads cancelled,",
            "\(grid.comparisons) comparisons of cells"
        )
        // Figures, for a quiet machine.
        if Torture.isFull {
            stage.expect(longest.processor < longestAllowedBlock, otherwise: "blocked for \(longest.processor)")
            stage.expect(
                origin.numbers.count < cancelled,
                otherwise: "too few loads cancelled in time: \(origin.numbers.count) requests, \(cancelled) cancelled"
            )
        }
        stage.expect(memoryGrowth < .mebibytes(64), otherwise: "the process grew by \(memoryGrowth)")
        stage.expect(cancelled > 0, otherwise: "no load of a hidden cell was cancelled")
        check(grid, on: stage)
    }

    private static let memoryLimit = ByteCount.mebibytes(4)

    /// Scrolls down in some seconds with pauses, and back up in large steps.
    private static func scrollThrough(_ grid: NumberedGrid, on stage: Stage) async throws {
        let steps = Torture.repetitions(20, full: 40)
        for pause in 0..<Torture.repetitions(2, full: 4) {
            for _ in 0..<steps { await grid.scroll(by: 330) }
            for _ in 0..<steps { await grid.scroll(by: 12) }
            await stage.wait(for: "all cells after pause \(pause)") { grid.cells.pendingCount == 0 }
            try await grid.checkScreen()
        }
        for _ in 0..<steps / 2 { await grid.scroll(by: -2_000) }
    }

    /// Jumps to the middle: the visible cells load first, then the next screen, and no cell that has left.
    private static func jumpToMiddle(of grid: NumberedGrid, origin: NumberedOrigin, on stage: Stage) async throws {
        await grid.scroll(to: 40_000)
        let requestCount = origin.numbers.count
        await stage.wait(for: "all cells in the middle") { grid.cells.pendingCount == 0 }
        try await grid.checkScreen()
        let last = grid.visibleCells.map(\.position).max() ?? 0
        await waitForPrefetches(of: last + 1...last + 32, in: grid, origin: origin, on: stage)
        let boundPositions = grid.boundPositions
        let unbound = origin.numbers.dropFirst(requestCount + 12).filter { !boundPositions.contains($0) }
        stage.expect(unbound.isEmpty, otherwise: "requested cells that had left: \(unbound)")
    }

    /// Scrolls up a little: the screen above is prefetched.
    private static func scrollUp(_ grid: NumberedGrid, origin: NumberedOrigin, on stage: Stage) async {
        for _ in 0..<4 { await grid.scroll(by: -300) }
        let first = grid.visibleCells.map(\.position).min() ?? 0
        await waitForPrefetches(of: first - 32...first - 1, in: grid, origin: origin, on: stage)
    }

    /// Waits until all cells of a range that GTK has bound are loaded: at least a row.
    private static func waitForPrefetches(
        of range: ClosedRange<Int>,
        in grid: NumberedGrid,
        origin: NumberedOrigin,
        on stage: Stage
    ) async {
        await stage.wait(for: "the cells \(range), prefetched") {
            let bound = grid.boundPositions.intersection(range)
            return grid.cells.loadingCount == 0 && bound.count >= 8 && bound.isSubset(of: origin.numbers)
        }
    }

    private static func check(_ grid: NumberedGrid, on stage: Stage) {
        let mismatches = grid.mismatches
        stage.expect(mismatches.isEmpty, otherwise: "\(mismatches.count) wrong images: \(mismatches.prefix(10))")
        stage.expect(
            grid.comparisons > Torture.repetitions(500, full: 2_000),
            otherwise: "only \(grid.comparisons) comparisons"
        )
        let usage = grid.largestMemoryUsage
        stage.expect(usage <= memoryLimit, otherwise: "\(usage) in memory, \(memoryLimit) allowed")
    }

    /// 8 milliseconds, or several times as much without optimisation.
    private static var longestAllowedBlock: Duration {
        #if DEBUG
        .milliseconds(40)
        #else
        .milliseconds(8)
        #endif
    }

    private static func residentMemory() -> ByteCount {
        guard let bytes = try? FileSystem().contents(of: "/proc/self/statm") else { return .zero }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return ByteCount((fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE))))
    }
}
#endif
