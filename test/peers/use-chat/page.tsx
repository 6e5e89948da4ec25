import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useEffect, useEffectEvent } from "react";
import { createRoot } from "react-dom/client";

const transport = new DefaultChatTransport({ api: "/chat" });

/** A chat as the AI SDK's documentation has it, with its own buttons. Only what it listens to is added: see `EventSource`. */
function Conversation() {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: "chat-1",
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  // Somebody has decided: the conversation goes on as it is, unless it does so already.
  const goOn = useEffectEvent(() => {
    const waits = messages
      .at(-1)
      ?.parts.some((part) => isToolUIPart(part) && part.state.startsWith("approval-"));
    if (waits === true && (status === "ready" || status === "error")) void sendMessage();
  });
  useEffect(() => {
    const ready = new EventSource("/ready");
    ready.onmessage = () => goOn();
    return () => ready.close();
  }, []);
  const parts = messages.flatMap((message) =>
    message.parts.map((part, place) => ({ part, key: `${message.id}/${place}` })),
  );
  return (
    <>
      {parts.map(({ part, key }) => {
        if (part.type === "text") return <p key={key}>{part.text}</p>;
        if (!isToolUIPart(part)) return null;
        const answer = (approved: boolean) => () => {
          if (part.approval !== undefined) void addToolApprovalResponse({ id: part.approval.id, approved });
        };
        return (
          <section key={key} aria-label={part.toolCallId}>
            <output>{part.state}</output> <code>{JSON.stringify(part.output ?? part.input)}</code>
            {part.state === "approval-requested" && (
              <>
                <button type="button" onClick={answer(true)}>
                  Approve
                </button>
                <button type="button" onClick={answer(false)}>
                  Deny
                </button>
              </>
            )}
          </section>
        );
      })}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <button type="button" onClick={() => void sendMessage({ text: "Pay." })}>
        Send
      </button>
    </>
  );
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Conversation />);
