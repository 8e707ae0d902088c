import EideticBackground

try Application.shared.start()
for await state in Application.shared.states where state == .active { break }

// Handles requests until the process is stopped; the process then waits for the open background tasks.
while Application.shared.state == .active {
    try await Application.shared.withBackgroundTask(named: "order 4711") {
        try await Task.sleep(for: .milliseconds(300))  // the work
    }
}
await Application.shared.waitUntilTerminated()
