// ws.js
import ws from "k6/ws";
import { check } from "k6";

const WS_URL = __ENV.WS_URL || "wss://ws.demo.anycable.io/cable";
const WS_COOKIE = __ENV.WS_COOKIE; // we need a valid cookie to authorize request

export default function () {
  const response = ws.connect(
    WS_URL,
    { headers: { Cookie: WS_COOKIE } },
    (socket) => {
      socket.on("open", () => {
        let ws_cmd = {
          command: "subscribe",
          identifier: '{"channel":"ChatChannel","id":"demo"}',
        };
        socket.send(JSON.stringify(ws_cmd));

        socket.setTimeout(function () {
          let ws_cmd = {
            command: "message",
            identifier: '{"channel":"ChatChannel","id":"demo"}',
            data: '{"action":"speak","message":"Hello"}',
          };
          socket.send(JSON.stringify(ws_cmd));
        }, 500);
      });

      socket.on("message", (data) => {
        let parsed_data = JSON.parse(data);
        if (parsed_data.type === "confirm_subscription") {
          check(parsed_data, {
            subscribed: (d) =>
              d.identifier === '{"channel":"ChatChannel","id":"demo"}',
          });
        } else if (parsed_data.message && parsed_data.message.action) {
          check(parsed_data, {
            "message recieved": (d) => d.message.action === "newMessage",
          });
        }
      });

      // close socket after 1 second
      socket.setTimeout(function () {
        socket.close();
      }, 3000);
    }
  );
  check(response, { "status is 101": (r) => r && r.status === 101 });
}
