package reshardctl.interop;

/** One application of the library: what the process's side may ask of the library's side. */
public interface Application {

    /** Consumes until stopped or dead. True: it was asked to stop. */
    boolean run(Request request) throws Exception;

    /** Asks it to stop, as an operator stops a process that does not checkpoint on its way out. */
    void stop();
}
