/// A performer of exchanges, whose scheduler decides which of them start.
protocol ExchangeEngine: Sendable {
    /// Prepares the engine; called once, before anything else.
    func run(_ options: EngineOptions, onEnd: @escaping @Sendable (ExchangeRequest) -> Void)

    /// Starts an exchange; the completion of its request is called exactly once.
    func start(_ request: ExchangeRequest, queued: Duration)

    /// Cancels an exchange; has no effect on one that has ended.
    func cancel(_ id: UInt64)

    /// Posts any other command.
    func post(_ command: EngineCommand)
}
