public import EideticCore
import EideticLifecycle
import EideticSupervision

/// A request to refresh content for up to 30 s, before the user is likely to open the application.
public struct AppRefreshTaskRequest: Sendable, Hashable {
    /// The identifier, 1 to 255 bytes; only one refresh request can be pending.
    public var identifier: String
    /// The minimum delay before the refresh; zero by default.
    public var earliestBegin: Duration = .zero

    /// Creates a request.
    public init(identifier: String) { self.identifier = identifier }
}

/// A request to run for up to 10 min while the conditions are met.
public struct ProcessingTaskRequest: Sendable, Hashable {
    /// The identifier, 1 to 255 bytes; at most ten processing requests can be pending.
    public var identifier: String
    /// The minimum delay before the work; zero by default.
    public var earliestBegin: Duration = .zero
    /// A Boolean value indicating whether the work needs a network; `false` by default.
    public var requiresNetworkConnectivity = false
    /// A Boolean value indicating whether the work needs external power; `false` by default.
    public var requiresExternalPower = false
    /// A Boolean value indicating whether the work needs an idle machine; `false` by default.
    public var requiresIdleMachine = false

    /// Creates a request.
    public init(identifier: String) { self.identifier = identifier }
}

/// The requests of an application for time in the background.
public final class BackgroundTaskScheduler: Sendable {
    /// The scheduler of ``Application/shared``.
    public static let shared = BackgroundTaskScheduler(application: .shared)

    let application: Application

    package init(application: Application) { self.application = application }

    /// Registers the handler of a request; call it in `applicationWillFinishLaunching`, before the request is
    /// delivered.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request.
    ///   - handler: The work, in a task that is cancelled when its time ends. It returns `false` if the work failed;
    ///     processing is then retried later. Without a handler the request fails at once.
    public func register(
        forTaskWithIdentifier identifier: String,
        handler: @escaping @MainActor @Sendable () async -> Bool
    ) { application.wakeCenter.setHandler(handler, for: identifier) }

    /// Submits a request; it replaces a pending one with the same identifier.
    ///
    /// - Parameter request: The request.
    /// - Throws: `EideticError.Code.limitExceeded` if another refresh request is pending, `.permissionDenied` if the
    ///   application does not declare the background mode `fetch`, `.refused` without a supervisor,
    ///   `.invalidArgument` for an identifier that is empty or too long.
    nonisolated(nonsending) public func submit(_ request: AppRefreshTaskRequest) async throws(EideticError) {
        var wire = TaskRequest(.refresh, identifier: request.identifier)
        wire.earliestBegin = request.earliestBegin.components.seconds
        try await submit(wire)
    }

    /// Submits a request; it replaces a pending one with the same identifier.
    ///
    /// - Parameter request: The request.
    /// - Throws: `EideticError.Code.limitExceeded` if ten other requests are pending, `.permissionDenied` if the
    ///   application does not declare the background mode `processing`, `.refused` without a supervisor,
    ///   `.invalidArgument` for an identifier that is empty or too long.
    nonisolated(nonsending) public func submit(_ request: ProcessingTaskRequest) async throws(EideticError) {
        var wire = TaskRequest(.processing, identifier: request.identifier)
        wire.earliestBegin = request.earliestBegin.components.seconds
        wire.constraints.needsNetwork = request.requiresNetworkConnectivity
        wire.constraints.needsExternalPower = request.requiresExternalPower
        wire.constraints.needsIdle = request.requiresIdleMachine
        try await submit(wire)
    }

    private func submit(_ request: TaskRequest) async throws(EideticError) {
        guard (1...TaskRequest.identifierLimit).contains(request.identifier.utf8.count) else {
            throw EideticError(.invalidArgument, message: "the identifier of a request must have 1 to 255 bytes")
        }
        let reply = await application.wakeCenter.request { .submit(request, number: $0) }
        guard case .task(let fault?, _) = reply else { return }
        throw Self.error(fault, identifier: request.identifier)
    }

    static func error(_ fault: TaskRequestError, identifier: String) -> EideticError {
        switch fault {
        case .tooManyPendingTaskRequests:
            EideticError(.limitExceeded, message: "\(identifier): too many requests are pending: cancel one")
        case .notPermitted:
            EideticError(
                .permissionDenied,
                message: "\(identifier): the background mode is not declared in X-Eidetic-BackgroundModes"
            )
        case .invalidIdentifier: EideticError(.invalidArgument, message: "\(identifier) is not valid")
        case .notInForeground:
            EideticError(.refused, message: "\(identifier): the application is not in the foreground: begin it there")
        case .unavailable:
            EideticError(.refused, message: "\(identifier): no supervisor could wake the application: start eideticd")
        }
    }

    /// Cancels the pending request with an identifier.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        application.wakeCenter.post(.cancel(identifier))
    }

    /// Cancels all pending requests.
    public func cancelAllTaskRequests() { application.wakeCenter.post(.cancel(nil)) }
}
