import EideticBackground

// Work that ends before the process is suspended or stopped.
try Application.shared.start()
do {
    try await Application.shared.withBackgroundTask(named: "upload the draft") {
        try await Task.sleep(for: .seconds(2))  // the work; cancelled when the time is over
    }
} catch {
    print("not done: \(error)")
}
print(Application.shared.state)
