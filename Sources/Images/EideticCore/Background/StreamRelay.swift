/// Streams whose source is connected later; those that exist by then continue with it.
package final class StreamRelay<Element: Sendable>: Sendable {
    private struct State {
        var makeSource: (@Sendable () -> AsyncStream<Element>)?
        var waiting: [UInt64: AsyncStream<AsyncStream<Element>>.Continuation] = [:]
        var streamCount: UInt64 = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// Connects every stream, those that exist and later ones, to a source of its own.
    package func connect(_ makeSource: @escaping @Sendable () -> AsyncStream<Element>) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.makeSource = makeSource
            return state.waiting
        }
        for continuation in waiting.values {
            continuation.yield(makeSource())
            continuation.finish()
        }
    }

    /// Returns a new stream of the values of the source; it is empty until the source is connected.
    package func stream() -> AsyncStream<Element> {
        let (sources, continuation) = AsyncStream<AsyncStream<Element>>.makeStream()
        let makeSource = state.withLock { state -> (@Sendable () -> AsyncStream<Element>)? in
            if let makeSource = state.makeSource { return makeSource }
            state.streamCount += 1
            let number = state.streamCount
            state.waiting[number] = continuation
            continuation.onTermination = { [weak self] _ in self?.forget(number) }
            return nil
        }
        return makeSource?() ?? Self.flattened(sources)
    }

    private func forget(_ number: UInt64) { _ = state.withLock { $0.waiting.removeValue(forKey: number) } }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns a stream of the values of the first source in `sources`.
    private static func flattened(_ sources: AsyncStream<AsyncStream<Element>>) -> AsyncStream<Element> {
        let source = Guarded<AsyncStream<Element>?>(nil)
        return AsyncStream {
            // Iterators of a stream share its values, so each value can be received by an iterator of its own.
            if source.withLock({ $0 == nil }) {
                var iterator = sources.makeAsyncIterator()
                let first = await iterator.next()
                source.withLock { $0 = first }
            }
            var iterator = source.withLock { $0 }?.makeAsyncIterator()
            return await iterator?.next()
        }
    }
}
