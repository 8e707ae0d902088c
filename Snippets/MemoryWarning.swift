import EideticBackground

// The one import of an application without images: the delegate's types come with it.
@MainActor
final class Delegate: ApplicationDelegate {
    var pages: [String: [UInt8]] = [:]

    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {
        if level >= .urgent { pages = [:] }
    }
}

do {
    try Application.shared.start(delegate: Delegate())
} catch {
    let failure: EideticError = error
    print(failure.message)
}
