import EideticBackground

try Application.shared.start()
for await state in Application.shared.states where state == .active { break }

// Takes requests until the process is asked to stop; what has begun is waited for, by its name.
while Application.shared.state == .active {
    try await Application.shared.withBackgroundTask(named: "order 4711") {
        try await Task.sleep(for: .milliseconds(300))  // the work
    }
}
await Application.shared.waitUntilTerminated()
