import EideticBackground

try Application.shared.start()

// Wherever a request, an upload or a flush is handled:
try await Application.shared.withBackgroundTask(named: "order 4711") {
    try await Task.sleep(for: .milliseconds(10))  // the work
}

// And where the server decides whether to take another one:
for await state in Application.shared.states where state != .active { break }
