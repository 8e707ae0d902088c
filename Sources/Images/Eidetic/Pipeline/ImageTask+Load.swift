import EideticCore

extension ImageTask {
    /// The running load of a task, which another task may take over.
    ///
    /// A task with handlers is retained until its load ends; any other is cancelled when nobody else retains it.
    final class Load: Sendable {
        private struct State {
            var retained: ImageTask?
            weak var task: ImageTask?
            var work: Task<Void, Never>?
        }

        private let state = Guarded(State())

        func setTask(_ task: ImageTask, isRetained: Bool) {
            // The earlier task may be released here, which must not happen under the lock.
            _ = state.withLock { state in
                defer { (state.task, state.retained) = (task, isRetained ? task : nil) }
                return state.retained
            }
        }

        func cancel() { release()?.cancel() }

        /// Releases the task of a load that has ended, and returns the work.
        @discardableResult
        func release() -> Task<Void, Never>? {
            // The task may be released here, which must not happen under the lock.
            let ended = state.withLock { state in
                defer { (state.task, state.retained) = (nil, nil) }
                return (work: state.work, task: state.retained)
            }
            return ended.work
        }

        /// Loads, and reports events on any thread.
        func start(_ prepared: PreparedLoad, in pipeline: ImagePipeline, context: JobContext) {
            setWork(
                Task.detached { [self] in
                    let end = await pipeline.terminalEvent(of: prepared, context: context) { self.task?.handle($0) }
                    task?.handle(end)
                }
            )
        }

        /// Loads, and reports events on the main actor, in their order.
        @MainActor
        func startDelivering(
            _ prepared: PreparedLoad,
            in pipeline: ImagePipeline,
            context: JobContext,
            decodesImages: Bool
        ) {
            let (stream, sink) = EventSink.makeStream()
            let load = Task.detached {
                sink.send(await pipeline.terminalEvent(of: prepared, context: context) { sink.send($0) })
                sink.finish()
            }
            sink.onCancellation { load.cancel() }
            setWork(
                Task { [self] in
                    var events = stream.makeAsyncIterator()
                    while let event = await events.next() {
                        guard let event = decodesImages ? await event.decoded() : event else { continue }
                        task?.deliver(event)
                    }
                }
            )
        }

        private var task: ImageTask? { state.withLock { $0.task } }

        /// Sets the work, which may have ended already.
        private func setWork(_ work: Task<Void, Never>) { state.withLock { $0.work = work } }
    }
}

extension ImagePipeline {
    /// Loads with the priority of `context`, and returns the event that ends the load.
    fileprivate func terminalEvent(
        of load: PreparedLoad,
        context: JobContext,
        report: @escaping @Sendable (ImageTask.Event) -> Void
    ) async -> ImageTask.Event {
        do throws(EideticError) {
            return .finished(try await self.load(load, context: context, report: report))
        } catch {
            return .failed(error)
        }
    }
}
