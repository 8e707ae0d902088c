#if GTK
import CGTK
import EideticGTK
import Glibc
import Testing

@Suite("Signals", .timeLimit(.minutes(2)))
struct SignalTests {
    /// Returns a list, whose signal `items-changed` has three arguments of the type `guint`.
    @MainActor private static var list: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(g_list_store_new(g_object_get_type()))
    }

    @Test("L17 a handler gets the integers of its signal, and the object of a signal without arguments")
    func types() async {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                let list = SignalTests.list
                var numbers: [UInt32] = []
                Signal.connectInteger(list, signal: "items-changed") { numbers.append($0) }
                for _ in 0..<2 { g_list_store_append(OpaquePointer(list), list) }
                precondition(numbers == [0, 1], "\(numbers)")
                guard let cancellable = g_cancellable_new().map(UnsafeMutableRawPointer.init) else { exit(2) }
                var objects: [UnsafeMutableRawPointer?] = []
                Signal.connect(cancellable, signal: "cancelled") { objects.append($0) }
                Signal.connect(cancellable, signal: "notify::name") { _ in }
                g_cancellable_cancel(cancellable.assumingMemoryBound(to: GCancellable.self))
                precondition(objects == [cancellable], "\(objects)")
            }
        }
    }

    @Test("L17 a handler for other C types than those of the signal is a programmer's error")
    func otherTypes() async {
        let pair = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await MainActor.run { _ = Signal.connectPair(SignalTests.list, signal: "items-changed") { _, _ in } }
        }
        let text = String(decoding: pair?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("no signal \"items-changed\""), "\(text)")
        await #expect(processExitsWith: .failure) {
            await MainActor.run { _ = Signal.connect(SignalTests.list, signal: "items-changed") { _ in } }
        }
        await #expect(processExitsWith: .failure) {
            await MainActor.run { _ = Signal.connectInteger(SignalTests.list, signal: "notify") { _ in } }
        }
        await #expect(processExitsWith: .failure) {
            await MainActor.run { _ = Signal.connectInteger(SignalTests.list, signal: "resize") { _ in } }
        }
    }
}
#endif
