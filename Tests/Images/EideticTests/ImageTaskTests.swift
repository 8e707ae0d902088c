import Eidetic
import EideticTestSupport
import Testing

/// The handle of a load, used from any thread.
@Suite("Image tasks", .timeLimit(.minutes(2)))
struct ImageTaskTests {
    private let pipeline = ImagePipeline(.init())

    private func makeRequest(opensWith gate: Gate, named name: String = "a") throws -> ImageRequest {
        let png = try TestImage.png(width: 8, height: 6)
        return ImageRequest(
            .provider(name: name) { () throws(EideticError) in
                await gate.wait()
                return png
            }
        )
    }

    @Test("L28 response, image, events and result of one handle are the outcome of one load, for each that waits")
    func allForms() async throws {
        let gate = Gate(), task = pipeline.task(for: try makeRequest(opensWith: gate))
        #expect(task.result == nil)
        async let image = task.image
        async let response = task.response
        async let events = task.events.all()
        gate.open()
        #expect(try await image.size == response.image.size)
        #expect(await events.count { $0.isTerminal } == 1)
        #expect(try task.result?.get().image.size.width == 8)
        #expect(try await task.image.size.width == 8)
        #expect(await task.events.all().count == 1)
        #expect(pipeline.statistics.loads == 1)
    }

    @Test("L28 cancelled on another thread: the outcome is there at once, and each that waits gets it")
    func cancelled() async throws {
        let gate = Gate(), task = pipeline.task(for: try makeRequest(opensWith: gate)), pipeline = pipeline
        let waiting = Task { try await task.image }
        await Task.detached {
            task.cancel()
            #expect(throws: EideticError.self) { try task.result?.get() }
        }.value
        let error = await #expect(throws: EideticError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        gate.open()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(throws: EideticError.self) { try task.result?.get() }
    }

    @Test("L28 the cancellation of a task that waits for the response cancels the load")
    func waiterCancelled() async throws {
        let gate = Gate(), task = pipeline.task(for: try makeRequest(opensWith: gate)), pipeline = pipeline
        let waiting = Task { try await task.response }
        waiting.cancel()
        await #expect(throws: EideticError.self) { try await waiting.value }
        #expect(task.result != nil)
        gate.open()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
    }

    @Test("L28 a handle that is released cancels its load; a sequence of its events keeps it")
    func released() async throws {
        let gate = Gate(), request = try makeRequest(opensWith: gate), pipeline = pipeline
        do {
            let events = pipeline.task(for: request).events
            try await eventually("number of loads", is: 1) { pipeline.statistics.loads }
            _ = events
        }
        try await eventually("number of cancelled loads", is: 1) { pipeline.statistics.cancelled }
        var kept: (any AsyncSequence<ImageTask.Event, Never>)? = pipeline.task(for: request).events
        gate.open()
        let last = await kept?.all().last
        kept = nil
        #expect(last?.isTerminal == true)
        #expect(pipeline.cachedImage(for: request) != nil)
    }

    @Test("L28 the priority is set on any thread until the task is finished")
    func priority() async throws {
        let gate = Gate(), task = pipeline.task(for: try makeRequest(opensWith: gate))
        #expect(task.priority == .normal)
        await Task.detached { task.priority = .high }.value
        #expect(task.priority == .high)
        gate.open()
        _ = try await task.image
        task.priority = .low
        #expect(task.priority == .high)
    }

    @Test("L28 the completion form cancelled on another thread calls back once, on the main actor")
    func completionElsewhere() async throws {
        let gate = Gate(), request = try makeRequest(opensWith: gate), pipeline = pipeline
        let result = await withCheckedContinuation { continuation in
            Task { @MainActor in
                let task = pipeline.load(request) { result in
                    MainActor.assertIsolated()
                    continuation.resume(returning: result)
                }
                Task.detached { task.cancel() }
            }
        }
        #expect(throws: EideticError.self) { try result.get() }
        gate.open()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
    }

    @Test("L28 the completion form has the events of a handle, and the same outcome")
    @MainActor
    func completionEvents() async throws {
        let gate = Gate(), completions = Counter()
        let task = pipeline.load(try makeRequest(opensWith: gate)) { _ in completions.increment() }
        let events = task.events
        gate.open()
        #expect(await events.all().count { $0.isTerminal } == 1)
        #expect(completions.value == 1)
        #expect(try await task.image.size.width == 8)
    }

    @Test("L28 two hundred handles cancelled, read and released by many threads: one outcome each")
    func races() async throws {
        let png = try TestImage.png(width: 8, height: 6), pipeline = pipeline
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let name = "\(index % 7)"
                let request = ImageRequest(.provider(name: name) { () throws(EideticError) in png })
                let task = pipeline.task(for: request)
                group.addTask { if index % 3 == 0 { task.cancel() } }
                group.addTask {
                    let ends = await task.events.all().count { $0.isTerminal }
                    #expect(ends == 1)
                }
                group.addTask {
                    task.priority = .low
                    let first = try? await task.image, second = try? task.result?.get().image
                    #expect((first == nil) == (second == nil))
                }
            }
        }
        try await eventually("the pipeline is idle") { pipeline.isIdle }
    }
}

extension AsyncSequence<ImageTask.Event, Never> {
    /// Returns all events.
    fileprivate func all() async -> [ImageTask.Event] {
        var events: [ImageTask.Event] = []
        for await event in self { events.append(event) }
        return events
    }
}
