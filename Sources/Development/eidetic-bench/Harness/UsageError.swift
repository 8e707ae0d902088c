/// An invalid command line, or another failure that ends the program with a message.
struct UsageError: Error {
    let message: String
}
